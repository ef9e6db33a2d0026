"""One tenant attacks while another installs: quiet run, attack, look, clean-up."""

from __future__ import annotations

import json
import os
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import urllib3

from shared.adapters.kube import ApiError
from shared.api.manifest import uid_of
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, EVENT, KINDS, NAMESPACE, Ref
from tests.conformance.attacks import control
from tests.conformance.attacks.gains import Look, Permissions, acting
from tests.conformance.attacks.hands import Written, hands
from tests.conformance.attacks.known import ATTACKS, FORGED
from tests.conformance.attacks.neighbour import (
    API,
    NEIGHBOUR,
    ROUNDS,
    VERSION,
    Wait,
    has_roles_of_neighbour,
    heal,
    install,
    installs,
    least_of,
    uninstall,
)
from tests.conformance.attacks.processes import ends, pids
from tests.conformance.attacks.registry import Hostile
from tests.conformance.attacks.scoped_tenant import a_version, offers
from tests.conformance.attacks.shapes import OLM
from tests.conformance.attacks.tenant import PLURALS, Tenant
from tests.conformance.http import Api
from tests.kit.installation import Installation, a_namespace, an_operator_group
from tests.kit.waiting import wait_for

EXTRA = int(os.environ.get("OLMF_ATTACKS", "1200"))
"""Objects with several texts each, beside those with one text in each place."""
RATE = float(os.environ.get("OLMF_ATTACK_RATE", "20"))
"""Objects a second while the neighbour's delay is measured; then as many as the API server takes."""
FIRST = 400
"""Objects that are there before the neighbour begins."""
CLEAN_SECONDS = 420.0
"""An Operator without components goes with the next audit, which may be five minutes away."""
WRITING = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]
RBAC = "rbac.authorization.k8s.io"


UNKNOWN = Wait()


@dataclass
class Facts:
    """What was seen."""

    tenant: str
    written: Written = field(default_factory=Written)
    tried: dict[str, Counter[int]] = field(default_factory=dict)
    """The known attacks, with the statuses of what each wrote."""
    quiet: Wait = UNKNOWN
    paced: Wait = UNKNOWN
    """While the tenant writes `RATE` objects a second."""
    busy: Wait = UNKNOWN
    """While it writes as many as the API server takes."""
    healing_seconds: float = 0.0
    unseen: list[str] = field(default_factory=list)
    """Rights that were given on purpose, and not seen."""
    before: Permissions = field(default_factory=lambda: Permissions({}))
    after: Permissions = field(default_factory=lambda: Permissions({}))
    gained: list[str] = field(default_factory=list)
    """After the known attacks, and after all."""
    pids_before: dict[str, list[int]] = field(default_factory=dict)
    pids_after: dict[str, list[int]] = field(default_factory=dict)
    ends: list[str] = field(default_factory=list)
    """What the logs say of processes that ended."""
    unhealthy: list[str] = field(default_factory=list)
    dead: list[str] = field(default_factory=list)
    """Dead letters about objects of others."""
    asked: list[str] = field(default_factory=list)
    """Requests that the hostile registry got."""
    reached: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """What is left of the tenant when all it wrote is deleted."""
    installed_by_forgery: list[str] = field(default_factory=list)
    stolen: list[str] = field(default_factory=list)
    """Catalogs of others that the tenant was served."""
    failures: list[str] = field(default_factory=list)
    """Steps that did not come to an end."""


def run(installation: Installation, api: Api, registry: Hostile) -> Facts:
    """The whole story."""
    facts = Facts(f"mallory-{uuid.uuid4().hex[:8]}")
    tenant = prepare(installation, api, facts.tenant, registry)
    install(installation, api)
    facts.quiet = installs(installation, api)
    wait_for(
        lambda: has_roles_of_neighbour(installation), "the roles for the neighbour's API, which follow its install"
    )
    others = (NEIGHBOUR, "kube-system", "olm", "default")
    look = Look(facts.tenant, tenants=("mallory", "landlord"), others=("auditor", "editor"), places=others)
    facts.before, facts.pids_before = look.permissions(installation, api), pids(installation)
    facts.unseen = control.unseen(installation, api, look, facts.before)
    attack(installation, api, tenant, facts)
    facts.gained = look.gained(facts.before, look.permissions(installation, api))
    spoils(installation, tenant, facts)
    flood(installation, api, tenant, facts)
    with noted(facts, "the return of the neighbour's Deployment"):
        facts.healing_seconds = heal(installation)
    with noted(facts, "the roles for the neighbour's API"):
        wait_for(lambda: has_roles_of_neighbour(installation))
    facts.after, facts.pids_after = look.permissions(installation, api), pids(installation)
    facts.ends = ends(installation)
    facts.gained += look.gained(facts.before, facts.after)
    facts.dead = dead_letters(installation, facts.tenant)
    facts.asked, facts.reached = list(registry.asked), list(registry.reached)
    with noted(facts, "the clean-up"):
        clean(installation, api, facts)
    facts.unhealthy = [each["name"] for each in installation.status()["processes"] if not each["healthy"]]
    return facts


@contextmanager
def noted(facts: Facts, what: str) -> Iterator[None]:
    """A step that does not end is a fact, too; what comes after it is still looked at."""
    try:
        yield
    except (AssertionError, ApiError, urllib3.exceptions.HTTPError) as error:
        facts.failures.append(f"{what}: {str(error)[:2000]}")


def attack(installation: Installation, api: Api, tenant: Tenant, facts: Facts) -> None:
    """Every known attack, one after the other; then wait until somebody has looked at all that they wrote."""
    for one in ATTACKS:
        name = one.__name__.replace("_", " ")
        tenant.answers.clear()
        with noted(facts, name):
            one(tenant)
        facts.tried[name] = Counter(tenant.answers)
    with noted(facts, "the neighbour's install after the known attacks"):
        uninstall(installation)
        install(installation, api)
        wait_for(lambda: has_roles_of_neighbour(installation))


def spoils(installation: Installation, tenant: Tenant, facts: Facts) -> None:
    """What the known attacks brought the tenant, beside rights."""
    names = [name for name in names_of(installation, tenant.namespace) if name in (FORGED, "private.v1")]
    facts.installed_by_forgery = [name for name in names if name == FORGED]
    facts.stolen = [name for name in names if name != FORGED]
    found = installation.cluster.get(CATALOG_SOURCE.ref("stolen", tenant.namespace)) or {}
    state = (found.get("status") or {}).get("connectionState") or {}
    facts.stolen += ["by its digest"] * (state.get("lastObservedState") == "READY")


def flood(installation: Installation, api: Api, tenant: Tenant, facts: Facts) -> None:
    """Thousands of objects while the neighbour installs: at a pace at which the API server has time, then at none."""
    with hands(tenant, EXTRA, facts.written) as mine, noted(facts, "the neighbour's install"):
        wait_for(lambda: facts.written.count >= FIRST, "the first objects")
        mine.at_rate(RATE)
        facts.paced = least_of(lambda: installs(installation, api), facts.quiet, ROUNDS)
        mine.at_rate(float("inf"))
        facts.busy = installs(installation, api, 3)


def prepare(installation: Installation, api: Api, namespace: str, registry: Hostile) -> Tenant:
    """Namespaces and users."""
    installation.apply(
        a_namespace(namespace), a_namespace(NEIGHBOUR), an_operator_group(NEIGHBOUR, targets=(NEIGHBOUR,))
    )
    rules = [{"apiGroups": [OLM], "resources": list(PLURALS.values()), "verbs": WRITING}]
    meta = {"name": "ours", "namespace": namespace}
    installation.apply({"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": meta, "rules": rules})
    for role, kind, user, place in (
        ("ours", "Role", "mallory", namespace), ("edit", "ClusterRole", "mallory", namespace),
        ("admin", "ClusterRole", "landlord", namespace), ("edit", "ClusterRole", "editor", NEIGHBOUR),
        ("view", "ClusterRole", "auditor", NEIGHBOUR), ("view", "ClusterRole", "auditor", namespace),
    ):  # fmt: skip
        installation.apply({
            "apiVersion": f"{RBAC}/v1", "kind": "RoleBinding",
            "metadata": {"name": f"{user}-{role}", "namespace": place},
            "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": user}],
        })  # fmt: skip
    other = installation.cluster.get(NAMESPACE.ref(NEIGHBOUR)) or {}
    theirs = (NEIGHBOUR, VERSION, API, f"{NEIGHBOUR}-group", uid_of(other))
    offers(Tenant(api, api, NEIGHBOUR, registry, ()), "private", a_version("private.v1"))
    image = str((installation.cluster.get(CATALOG_SOURCE.ref("local", "olm")) or {})["spec"]["image"])
    return Tenant(acting(api, "mallory"), acting(api, "landlord"), namespace, registry, theirs, digest_of(image), image)


def digest_of(image: str) -> str:
    """The digest of an image in a registry of this machine; empty for one that only the cluster reaches."""
    host, _, rest = image.partition("/")
    if not host.startswith("127.0.0.1:"):
        return image.partition("@")[2]
    name, _, tag = rest.partition(":")
    accept = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json"
    answer = urllib3.request("HEAD", f"http://{host}/v2/{name}/manifests/{tag}", headers={"Accept": accept})
    return answer.headers["Docker-Content-Digest"]


def dead_letters(installation: Installation, tenant: str) -> list[str]:
    """Those that are not about the tenant's own objects."""
    letters: list[dict[str, Any]] = json.loads(installation.olmf("queue", "dead", "-o", "json").stdout)
    return [f"{each['step']} {each['ref']}" for each in letters if f"/{tenant}" not in str(each["ref"])]


def names_of(installation: Installation, namespace: str) -> list[str]:
    """The CSVs of a namespace."""
    return [each["metadata"]["name"] for each in installation.cluster.list(CLUSTER_SERVICE_VERSION, namespace)]


def clean(installation: Installation, api: Api, facts: Facts) -> None:
    """Delete the tenant's objects and its namespace, and look what is left of it."""
    for version, plural in (
        (f"apis/{OLM}/v1alpha1", "subscriptions"),
        (f"apis/{OLM}/v1alpha1", "clusterserviceversions"),
    ):
        api.delete(f"/{version}/namespaces/{facts.tenant}/{plural}")
    unpin(installation, api, facts.tenant)
    installation.cluster.delete(NAMESPACE.ref(facts.tenant))
    with suppress(AssertionError):
        wait_for(lambda: not remains(installation, facts.tenant), seconds=CLEAN_SECONDS)
    facts.left = remains(installation, facts.tenant)


def unpin(installation: Installation, api: Api, namespace: str) -> None:
    """Take away the finalizers that the tenant set."""
    for kind in KINDS:
        if kind.is_namespaced:
            for each in installation.cluster.list(kind, namespace):
                if each["metadata"].get("finalizers"):
                    ref = Ref.of(each)
                    group = "/api/v1" if "/" not in ref.api_version else f"/apis/{ref.api_version}"
                    place = f"{group}/namespaces/{namespace}/{kind.plural}/{ref.name}"
                    api.patch(place, {"metadata": {"finalizers": None}})


def remains(installation: Installation, tenant: str) -> list[str]:
    """Every object that mentions the tenant's namespace."""
    return [
        f"{kind.kind} {each['metadata'].get('namespace', '')}/{each['metadata']['name']}"
        for kind in KINDS
        if kind != EVENT
        for each in installation.cluster.list(kind)
        if tenant in json.dumps(each)
    ]
