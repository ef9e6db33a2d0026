"""Who may write everything in a namespace with a limited account gets nothing that neither he nor the account has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.kinds import (
    API_SERVICE,
    CLUSTER_SERVICE_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    INSTALL_PLAN,
    NAMESPACE,
    ROLE,
    ROLE_BINDING,
    SECRET,
    SUBSCRIPTION,
    WEBHOOK_CONFIGURATIONS,
    Kind,
    Ref,
)
from tests.conformance.attacks import control
from tests.conformance.attacks import scoped_tenant as attacks
from tests.conformance.attacks.gains import Look, Permissions, acting
from tests.conformance.attacks.registry import Hostile
from tests.conformance.attacks.scenario import WRITING
from tests.conformance.attacks.scoped_tenant import BEACONS, CROWN, KEEPER, RBAC, VICTIM
from tests.conformance.attacks.shapes import OLM
from tests.conformance.attacks.tenant import PLURALS, Tenant
from tests.conformance.http import Api
from tests.conformance.targets import REAL, SANDBOX, running
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription, an_operator_group
from tests.kit.waiting import wait_for

pytestmark = pytest.mark.conformance
MAIN_NAMESPACE = "scoped"
LOOK = Look(
    MAIN_NAMESPACE, tenants=("mallory", "landlord"), others=(), places=(VICTIM, "kube-system", "olm", "default")
)
NO_REGISTRY = Hostile("127.0.0.1:1")
INSTALLER = LOOK.account("installer")
ATTACKS: tuple[Callable[[Tenant], object], ...] = (
    attacks.installs_what_asks_for_everything, attacks.takes_the_definition_of_a_neighbour,
    attacks.names_a_version_like_a_role, attacks.forges_what_we_write, attacks.edits_what_was_installed,
    attacks.plans_by_hand, attacks.reads_what_is_not_his,
)  # fmt: skip


LACKING = {
    "greedy": f'cannot create resource "clusterroles" in API group "{RBAC}" at the cluster scope',
    "taker": 'cannot list resource "beacons" in API group "samples.olmf.io" at the cluster scope',
}
"""What the plans for these packages say."""


@dataclass(frozen=True)
class Seen:
    """What was there before, and what is there after all of it."""

    cluster: Installation
    before: Permissions
    after: Permissions
    unseen: list[str]
    """Rights that were given on purpose, and not seen."""
    definition: Manifest
    """Of the neighbour, before."""
    answers: list[int]
    """Of the API server to what no tenant may write."""


@pytest.fixture(scope="module", params=[SANDBOX, REAL])
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """All attacks at once on each target; every test looks at one side of it."""
    folder: Path = tmp_path_factory.mktemp(f"scoped-{request.param}")
    with running(request.param, folder, "--bundles", str(SAMPLES)) as found:
        api = Api.of(Path(found.status()["kubeconfig"]))
        yield story(found, api)


def story(installation: Installation, api: Api) -> Seen:
    """The landlord prepares, mallory attacks."""
    tenant = prepared(installation, api)
    tenant.csv("plain.v1")
    installation.until_phase("plain.v1", MAIN_NAMESPACE)
    installation.until_it_rests()
    definition = installation.cluster.get(CUSTOM_RESOURCE_DEFINITION.ref(BEACONS))
    assert definition
    before = LOOK.permissions(installation, api)
    unseen = control.unseen(installation, api, LOOK, before)
    answers = attacks.changes_who_acts(tenant)
    for attack in ATTACKS:
        attack(tenant)
    for package, right in LACKING.items():
        waits_for(installation, package, right)
    installation.until_condition("private", MAIN_NAMESPACE, "ResolutionFailed")
    attacks.claims_it_by_hand(tenant)  # while it is there, no other version for that API is planned
    installation.until_it_rests()
    return Seen(installation, before, LOOK.permissions(installation, api), unseen, definition, answers)


def prepared(installation: Installation, api: Api) -> Tenant:
    """A neighbour at work; a namespace, its account that may install, its tenant, and what is the landlord's own."""
    installation.apply(a_namespace(VICTIM), an_operator_group(VICTIM, targets=(VICTIM,)))
    installation.apply(a_subscription("beacon", VICTIM, channel="stable"))
    group = an_operator_group(MAIN_NAMESPACE, targets=(MAIN_NAMESPACE,), serviceAccountName="installer")
    installation.apply(a_namespace(MAIN_NAMESPACE), of(MAIN_NAMESPACE, "v1", "ServiceAccount", "installer"), group)
    kinds = [plural for kind, plural in PLURALS.items() if kind not in ("OperatorGroup", "Role", "RoleBinding")]
    ours = [{"apiGroups": [OLM], "resources": kinds, "verbs": WRITING}]
    installs = [
        *ours, {"apiGroups": [RBAC], "resources": ["roles", "rolebindings"], "verbs": WRITING},
        {"apiGroups": ["", "apps"], "resources": ["serviceaccounts", "services", "deployments"], "verbs": WRITING},
    ]  # fmt: skip
    secrets = [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]}]
    for name, rules in (("ours", ours), ("installs", installs), (KEEPER, secrets)):
        installation.apply(of(MAIN_NAMESPACE, f"{RBAC}/v1", "Role", name, rules=rules))
    subject = {"kind": "ServiceAccount", "name": "installer", "namespace": MAIN_NAMESPACE}
    for role, who in (
        ("ours", a_user("mallory")), ("installs", subject), (KEEPER, a_user("landlord")),
    ):  # fmt: skip
        ref = {"apiGroup": RBAC, "kind": "Role", "name": role}
        installation.apply(of(MAIN_NAMESPACE, f"{RBAC}/v1", "RoleBinding", role, roleRef=ref, subjects=[who]))
    writes = [{"apiGroups": [""], "resources": ["configmaps", "services"], "verbs": WRITING}]
    installation.apply(of(MAIN_NAMESPACE, f"{RBAC}/v1", "Role", "writes", rules=writes))
    ref = {"apiGroup": RBAC, "kind": "Role", "name": "writes"}
    installation.apply(
        of(MAIN_NAMESPACE, f"{RBAC}/v1", "RoleBinding", "writes", roleRef=ref, subjects=[a_user("mallory")])
    )
    installation.apply(of("olm", "v1", "Secret", CROWN, stringData={"jewel": "ruby"}))
    attacks.offers(Tenant(api, api, VICTIM, NO_REGISTRY, ()), "private", attacks.a_version("private.v1"))
    installation.until_phase("beacon.v1.0.0", VICTIM)
    return Tenant(acting(api, "mallory"), acting(api, "landlord"), MAIN_NAMESPACE, NO_REGISTRY, ())


def of(namespace: str, api_version: str, kind: str, name: str, **fields: Any) -> Manifest:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **fields}


def a_user(name: str) -> Manifest:
    return {"apiGroup": RBAC, "kind": "User", "name": name}


def waits_for(installation: Installation, package: str, right: str) -> None:
    """Wait until a plan for the package says that this right is missing, and whose."""

    def reported() -> list[str]:
        plans = [
            one
            for one in installation.cluster.list(INSTALL_PLAN, MAIN_NAMESPACE)
            if f"{package}.v1" in str(one["spec"])
        ]
        return [one.get("status", {}).get("message", "") for one in plans]

    wait_for(lambda: any(right in text and INSTALLER in text for text in reported()), f"{package}: {right}")


def present(seen: Seen, ref: Ref) -> Manifest:
    found = seen.cluster.cluster.get(ref)
    assert found
    return found


def test_permissions_that_were_gained(seen: Seen) -> None:
    """Neither outside of the namespace, nor in it by any account that the tenant may run pods with."""
    found = LOOK.gained(seen.before, seen.after)
    assert not found, "\n".join(found)
    assert LOOK.account("default") in {subject for subject, _ in seen.after.rules}


def test_a_right_that_is_given_on_purpose_is_seen(seen: Seen) -> None:
    assert not seen.unseen, "\n".join(seen.unseen)


def test_what_no_tenant_may_write(seen: Seen) -> None:
    """The group, its status, another group: the API server refuses them to who may write all else."""
    assert seen.answers == [403, 403, 403]


def test_the_definition_of_the_neighbour(seen: Seen) -> None:
    """Neither its schema, nor its conversion, nor whose it is, nor its labels."""
    found = present(seen, Ref.of(seen.definition))
    assert found["spec"] == seen.definition["spec"]
    for key in ("labels", "annotations"):
        assert found["metadata"].get(key) == seen.definition["metadata"].get(key)


def test_the_role_and_the_binding_of_the_landlord(seen: Seen) -> None:
    role, binding = (
        present(seen, ROLE.ref(KEEPER, MAIN_NAMESPACE)),
        present(seen, ROLE_BINDING.ref(KEEPER, MAIN_NAMESPACE)),
    )
    assert role["rules"][0]["resources"] == ["secrets"]
    assert [one["name"] for one in binding["subjects"]] == ["landlord"]
    others = [
        one for one in seen.cluster.cluster.list(ROLE_BINDING, MAIN_NAMESPACE) if one["roleRef"]["name"] == KEEPER
    ]
    assert [one["metadata"]["name"] for one in others] == [KEEPER]


@pytest.mark.parametrize("kind", [API_SERVICE, *WEBHOOK_CONFIGURATIONS], ids=lambda kind: kind.plural)
def test_nothing_that_sees_the_requests_of_others(seen: Seen, kind: Kind) -> None:
    assert not [one["metadata"]["name"] for one in seen.cluster.cluster.list(kind) if MAIN_NAMESPACE in str(one)]


def test_plans_made_by_hand(seen: Seen) -> None:
    found = {one["metadata"]["name"]: one for one in seen.cluster.cluster.list(INSTALL_PLAN, MAIN_NAMESPACE)}
    for name in ("made-0", "made-1"):
        assert found[name].get("status", {}).get("phase", "") not in ("Installing", "Complete")


def test_what_is_not_his_to_read(seen: Seen) -> None:
    cluster = seen.cluster.cluster
    assert cluster.get(SECRET.ref(CROWN, MAIN_NAMESPACE)) is None
    assert cluster.get(CLUSTER_SERVICE_VERSION.ref("private.v1", MAIN_NAMESPACE)) is None
    assert "installedCSV" not in present(seen, SUBSCRIPTION.ref("private", MAIN_NAMESPACE))["status"]


def test_the_neighbour_works_on(seen: Seen) -> None:
    assert present(seen, CLUSTER_SERVICE_VERSION.ref("beacon.v1.0.0", VICTIM))["status"]["phase"] == "Succeeded"
    assert present(seen, NAMESPACE.ref(MAIN_NAMESPACE))["metadata"]["labels"].keys().isdisjoint({"olm.managed"})
