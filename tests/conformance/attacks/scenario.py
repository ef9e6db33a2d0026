"""One tenant attacks while another installs: quiet run, attack, look, clean-up."""

from __future__ import annotations

import json
import os
import statistics
import time
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from shared.adapters.kube import ApiError
from shared.api.manifest import labels_of, name_of, uid_of
from shared.kinds import (
    CLUSTER_ROLE,
    CLUSTER_SERVICE_VERSION,
    CONFIG_MAP,
    DEPLOYMENT,
    EVENT,
    JOB,
    KINDS,
    NAMESPACE,
    SUBSCRIPTION,
    Ref,
)
from tests.conformance.attacks.gains import Permissions, permissions
from tests.conformance.attacks.hands import hands
from tests.conformance.attacks.known import ATTACKS, PLURALS, Tenant
from tests.conformance.attacks.registry import Hostile
from tests.conformance.attacks.shapes import OLM
from tests.conformance.http import Api
from tests.kit.installation import Installation, a_namespace, a_subscription, an_operator_group
from tests.kit.waiting import wait_for

OBJECTS = int(os.environ.get("OLMF_ATTACKS", "2400"))
INSTALLS = 3
NEIGHBOUR, PACKAGE, VERSION, API = "neighbour", "beacon", "beacon.v1.0.0", "beacons.samples.olmf.io"
USERS = ("mallory", "landlord", "auditor", "editor")
LEVELS = ("admin", "edit", "view")
WRITING = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]
RBAC = "rbac.authorization.k8s.io"
FIRST, CLEAN_SECONDS = 400, 180.0
"""Objects that are there before the neighbour begins."""


@dataclass(frozen=True)
class Wait:
    """How long the neighbour waited for its operator, and a plain client beside it for each write; in seconds."""

    install: float = 0.0
    write: float = 0.0

    def times(self, quiet: Wait) -> str:
        """Both waits against those in quiet: the second tells what of the first the API server and the machine take."""
        return (
            f"{self.install:.1f} s, {quiet.install:.1f} s in quiet: {self.install / quiet.install:.1f} times as long; "
            f"a write of a plain client beside it {self.write / quiet.write:.1f} times"
        )


@dataclass
class Facts:
    """What was seen."""

    tenant: str
    written: int = 0
    refused: int = 0
    quiet: Wait = Wait()
    busy: Wait = Wait()
    rate: float = 0.0
    """Objects that the tenant wrote a second meanwhile."""
    healing_seconds: float = 0.0
    before: Permissions = field(default_factory=lambda: Permissions({}, frozenset()))
    after: Permissions = field(default_factory=lambda: Permissions({}, frozenset()))
    pids_before: dict[str, list[int]] = field(default_factory=dict)
    pids_after: dict[str, list[int]] = field(default_factory=dict)
    unhealthy: list[str] = field(default_factory=list)
    dead: list[str] = field(default_factory=list)
    """Dead letters about objects of others."""
    reached: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """What is left of the tenant when all it wrote is deleted."""
    installed_by_forgery: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """Steps that did not come to an end."""


def run(installation: Installation, api: Api, registry: Hostile) -> Facts:
    """The whole story."""
    facts = Facts(f"mallory-{uuid.uuid4().hex[:8]}")
    tenant = prepare(installation, api, facts.tenant, registry.address)
    install(installation, api)
    uninstall(installation)
    facts.quiet = installs(installation, api)
    wait_for(
        lambda: has_roles_of_neighbour(installation), "the roles for the neighbour's API, which follow its install"
    )
    look = (USERS, (NEIGHBOUR, "kube-system", "olm", "default", facts.tenant), facts.tenant)
    facts.before, facts.pids_before = permissions(installation, api, *look), pids(installation)
    uninstall(installation)
    for attack in ATTACKS:
        attack(tenant)
    with writing(tenant, facts), noted(facts, "the neighbour's install"):
        wait_for(lambda: facts.written + facts.refused >= min(FIRST, OBJECTS // 2), "the first objects")
        before, started = facts.written + facts.refused, time.monotonic()
        facts.busy = installs(installation, api)
        facts.rate = (facts.written + facts.refused - before) / (time.monotonic() - started)
    with noted(facts, "the return of the neighbour's Deployment"):
        facts.healing_seconds = heal(installation)
    facts.after, facts.pids_after = permissions(installation, api, *look), pids(installation)
    facts.installed_by_forgery = [name for name in names_of(installation, facts.tenant) if name == VERSION]
    facts.dead = dead_letters(installation, facts.tenant)
    facts.reached = list(registry.reached)
    with noted(facts, "the clean-up"):
        clean(installation, api, facts)
    facts.unhealthy = [each["name"] for each in installation.status()["processes"] if not each["healthy"]]
    return facts


@contextmanager
def noted(facts: Facts, what: str) -> Iterator[None]:
    """A step that does not end is a fact, too; what comes after it is still looked at."""
    try:
        yield
    except (AssertionError, ApiError) as error:
        facts.failures.append(f"{what}: {str(error)[:2000]}")


def prepare(installation: Installation, api: Api, namespace: str, registry: str) -> Tenant:
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
    return Tenant(acting(api, "mallory"), acting(api, "landlord"), namespace, registry, theirs)


def acting(api: Api, user: str) -> Api:
    """The API server as a user."""
    return api.as_other({"Impersonate-User": user, "Impersonate-Group": "system:authenticated"})


def installs(installation: Installation, api: Api) -> Wait:
    """The medians of a few installs, one after the other; the last one stays."""
    waits = [install(installation, api)]
    while len(waits) < INSTALLS:
        uninstall(installation)
        waits.append(install(installation, api))
    return Wait(statistics.median(each.install for each in waits), statistics.median(each.write for each in waits))


def install(installation: Installation, api: Api) -> Wait:
    """Wait until the neighbour's operator works."""
    started = time.monotonic()
    with plain_writes(api) as took:
        installation.apply(a_subscription(PACKAGE, NEIGHBOUR, channel="stable"))
        installation.until_phase(VERSION, NEIGHBOUR)
    return Wait(time.monotonic() - started, statistics.mean(took))


@contextmanager
def plain_writes(api: Api) -> Iterator[list[float]]:
    """Meanwhile a client writes a ConfigMap of the neighbour again and again, twenty times a second."""
    took: list[float] = []
    over = Event()
    place, name = f"/api/v1/namespaces/{NEIGHBOUR}/configmaps", "plain"
    api.post(place, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})

    def write() -> None:
        own = acting(api, "editor")
        while not over.wait(0.05):
            started = time.monotonic()
            assert own.patch(f"{place}/{name}", {"data": {"written": str(len(took))}}).status == 200
            took.append(time.monotonic() - started)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            yield took
        finally:
            over.set()
        writing.result()


def has_roles_of_neighbour(installation: Installation) -> bool:
    """Whether there are roles for users of the neighbour's API, and every role has the rules that it gathers."""
    roles = {name_of(role): role for role in installation.cluster.list(CLUSTER_ROLE)}
    of_group = [role for name, role in roles.items() if name.startswith(f"olm.og.{NEIGHBOUR}-group.")]
    if len(of_group) != len(LEVELS) or not all(role.get("rules") for role in of_group):
        return False
    if not all(f"{API}-v1-{level}" in roles for level in (*LEVELS, "crdview")):
        return False
    return all(
        rule in (role.get("rules") or ())
        for role in roles.values()
        for selector in (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ()
        for other in roles.values()
        if other is not role and selector["matchLabels"].items() <= labels_of(other).items()
        for rule in other.get("rules") or ()
    )


def uninstall(installation: Installation) -> None:
    """Take the operator away, and what was unpacked for it."""
    installation.cluster.delete(SUBSCRIPTION.ref(PACKAGE, NEIGHBOUR))
    installation.cluster.delete(CLUSTER_SERVICE_VERSION.ref(VERSION, NEIGHBOUR))
    installation.until_gone(CLUSTER_SERVICE_VERSION.ref(VERSION, NEIGHBOUR))
    installation.until_gone(DEPLOYMENT.ref(f"{PACKAGE}-controller", NEIGHBOUR))
    for job in installation.cluster.list(JOB, "olm"):
        ref = Ref.of(job)
        with suppress(ApiError):
            installation.cluster.delete(CONFIG_MAP.ref(ref.name, ref.namespace))
        installation.until_gone(ref)


def heal(installation: Installation) -> float:
    """Seconds until a Deployment of the neighbour that is deleted is back."""
    ref, started = DEPLOYMENT.ref(f"{PACKAGE}-controller", NEIGHBOUR), time.monotonic()
    before = installation.cluster.get(ref) or {}
    installation.cluster.delete(ref)
    installation.until(ref, lambda found: uid_of(found) != uid_of(before), "a new Deployment")
    return time.monotonic() - started


@contextmanager
def writing(tenant: Tenant, facts: Facts) -> Iterator[None]:
    """Thousands of objects, written by several hands; at the end of the block the rest is written, too."""

    def count(statuses: Iterable[str]) -> None:
        for status in statuses:
            facts.written += status == "201\n"
            facts.refused += status != "201\n"

    with hands(tenant.api, tenant.namespace, tenant.theirs, OBJECTS) as statuses, ThreadPoolExecutor(1) as pool:
        counted = pool.submit(count, statuses)
        yield
        counted.result()


def pids(installation: Installation) -> dict[str, list[int]]:
    """Our processes by name, each with the processes below it."""
    return {
        each["name"]: [each["pid"], *_below(each["pid"])]
        for each in installation.status()["processes"]
        if each["name"].removeprefix("olmf-").partition("-")[0] in ("worker", "watch", "scheduler", "endpoint")
    }


def _below(pid: int) -> list[int]:
    if pid < 2:  # the restarts of a pod
        return []
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


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
