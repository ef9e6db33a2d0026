from __future__ import annotations

from typing import Any

import pytest

from functions.cluster_service_version.sync_operator_condition import sync_operator_condition
from shared import names
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_CONDITION, ROLE, ROLE_BINDING
from shared.step import NOTHING, Create, Emit, Merge, Outcome, Replace, SetStatus
from tests.functions.operator_group.builders import a_csv
from tests.kit.cluster import FakeCluster, FixedClock

REF = CLUSTER_SERVICE_VERSION.ref("op.v1", "ns")
CONDITION = OPERATOR_CONDITION.ref("op.v1", "ns")
BEFORE, NOW = "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"
INSTALL = {
    "clusterPermissions": [{"serviceAccountName": "b", "rules": []}],
    "permissions": [{"serviceAccountName": "a", "rules": []}, {"serviceAccountName": "b", "rules": []}],
    "deployments": [{"name": "d1", "spec": {}}, {"name": "d2", "spec": {}}],
}


def run(*objects: dict[str, Any]) -> Outcome:
    return sync_operator_condition(REF, FakeCluster(objects), FixedClock())


def created(outcome: Outcome) -> dict[str, dict[str, Any]]:
    return {write.manifest["kind"]: write.manifest for write in outcome.writes if isinstance(write, Create)}


def stored(csv: dict[str, Any], **change: Any) -> list[dict[str, Any]]:
    """OperatorCondition (generation 2), Role and RoleBinding as they end up."""
    condition = created(run(csv))["OperatorCondition"]
    condition["metadata"] |= {"uid": "c", "resourceVersion": "4", "generation": 2}
    condition |= change
    permissions = created(run(csv, condition))
    return [condition, permissions["Role"], permissions["RoleBinding"]]


def test_a_condition_is_a_component_from_the_start_csv_md_12_3() -> None:
    label = {"operators.coreos.com/op.ns": ""}
    made = created(run(a_csv(install=INSTALL, labels=label)))
    assert made["OperatorCondition"]["metadata"]["labels"] == label


def test_everything_is_made() -> None:
    """csv.md 11.2, 11.3 steps 1–2; 18.7 row 142: cluster permissions first, duplicates kept."""
    made = created(run(a_csv(install=INSTALL)))

    assert made["OperatorCondition"]["spec"] == {"serviceAccounts": ["b", "a", "b"], "deployments": ["d1", "d2"]}
    assert "labels" not in made["OperatorCondition"]["metadata"]
    (owner,) = made["OperatorCondition"]["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("ClusterServiceVersion", "uid-ns-op.v1")
    assert (owner["controller"], owner["blockOwnerDeletion"]) == (True, False)
    role, binding = made["Role"], made["RoleBinding"]
    assert role["rules"] == [
        {
            "verbs": ["get", "update", "patch"],
            "apiGroups": ["operators.coreos.com"],
            "resources": ["operatorconditions"],
            "resourceNames": ["op.v1"],
        }
    ]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "b"}, {"kind": "ServiceAccount", "name": "a"}]
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "op.v1"}
    for right in (role, binding):
        assert right["metadata"]["labels"] == {"olm.managed": "true"}
        assert right["metadata"]["ownerReferences"][0]["kind"] == "OperatorCondition"


def test_without_permissions_the_default_account_reports() -> None:
    """csv.md 18.7 row 142."""
    assert created(run(a_csv()))["OperatorCondition"]["spec"]["serviceAccounts"] == ["default"]


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([], id="csv.md 11.2: no version"),
        pytest.param([a_csv(labels={"olm.copiedFrom": "x"})], id="csv.md 18.7 row 143: a copy"),
    ],
)
def test_nothing_to_report_for(objects: list[dict[str, Any]]) -> None:
    assert run(*objects) == NOTHING


def test_what_is_in_place_is_not_written() -> None:
    csv = a_csv(install=INSTALL)

    assert run(csv, *stored(csv)) == NOTHING


def test_a_deleted_condition_and_its_permissions_come_back() -> None:
    """csv.md 18.7 rows 143, 144."""
    csv = a_csv(install=INSTALL)
    condition, role, binding = stored(csv)

    assert list(created(run(csv))) == ["OperatorCondition", "Role", "RoleBinding"]
    assert created(run(csv, condition)) == {"Role": role, "RoleBinding": binding}


def test_accounts_and_deployments_are_corrected_overrides_kept() -> None:
    """csv.md 11.2."""
    csv = a_csv(install=INSTALL)
    spec = {"serviceAccounts": ["x"], "deployments": ["d1", "d2"], "overrides": [{"type": "Upgradeable"}]}
    condition, *permissions = stored(csv, spec=spec)

    (write,) = run(csv, condition, *permissions).writes

    assert write == Merge(CONDITION, {"spec": {"serviceAccounts": ["b", "a", "b"]}}, "4")


def test_the_owner_is_corrected() -> None:
    """csv.md 11.2: e.g. after the version was deleted and created again."""
    csv = a_csv(install=INSTALL)
    condition, *permissions = stored(csv)
    owners = condition["metadata"]["ownerReferences"]
    stale = {**condition, "metadata": {**condition["metadata"], "ownerReferences": []}}

    assert run(csv, stale, *permissions).writes == (Merge(CONDITION, {"metadata": {"ownerReferences": owners}}, "4"),)


@pytest.mark.parametrize(
    ("index", "change", "ref"),
    [
        pytest.param(1, {"rules": []}, ROLE.ref("op.v1", "ns"), id="csv.md 18.7 row 144: tampered rules"),
        pytest.param(2, {"subjects": []}, ROLE_BINDING.ref("op.v1", "ns"), id="csv.md 18.7 row 144: tampered subjects"),
    ],
)
def test_tampered_permissions_are_restored(index: int, change: dict[str, Any], ref: object) -> None:
    csv = a_csv(install=INSTALL)
    world = stored(csv)
    right = world[index]
    labelled = {**right, "metadata": {**right["metadata"], "labels": {"mine": "1"}}}
    world[index] = {**labelled, **change}

    assert run(csv, *world).writes == (Replace(labelled),)


THEIRS: list[dict[str, Any]] = [
    {"labels": {"olm.managed": "true"}, "ownerReferences": [{"kind": "ClusterServiceVersion", "name": "op.v1"}]},
    {"labels": {"olm.managed": "true"}, "ownerReferences": [{"kind": "OperatorCondition", "name": "other"}]},
    {},
]


@pytest.mark.parametrize("index", [1, 2], ids=["Role", "RoleBinding"])
@pytest.mark.parametrize("meta", THEIRS, ids=["of a version", "of another condition", "of a person"])
def test_what_somebody_else_called_so_is_neither_changed_nor_bound(index: int, meta: dict[str, Any]) -> None:
    """Whoever names a version could else have any Role of the namespace changed, or be bound to it."""
    csv = a_csv(install=INSTALL)
    world = stored(csv)
    theirs = {**world[index], "metadata": {"name": "op.v1", "namespace": "ns", **meta}}
    for beside in ([], [world[3 - index]]):
        outcome = run(csv, world[0], theirs, *beside)
        assert (outcome.writes, outcome.summary) == ((), f"{theirs['kind']} op.v1 belongs to somebody else")


def test_nobody_is_bound_to_a_role_that_was_not_looked_at() -> None:
    """The first run makes all three: a Role of that name stops it, instead of being taken for ours."""
    permissions = run(a_csv(install=INSTALL)).writes[1:]
    assert [write.must_be_new for write in permissions if isinstance(write, Create)] == [True, True]


def test_a_role_that_lost_its_owner_is_given_it_again() -> None:
    """csv.md 11.3 steps 1 and 2."""
    csv = a_csv(install=INSTALL)
    condition, role, binding = stored(csv)
    lost = {**role, "metadata": {**role["metadata"], "ownerReferences": []}}
    (write,) = run(csv, condition, lost, binding).writes
    assert isinstance(write, Replace)
    assert write.manifest["metadata"]["ownerReferences"] == role["metadata"]["ownerReferences"]


def a_report(status: str = "False", **more: Any) -> dict[str, Any]:
    return {
        "type": "Upgradeable",
        "status": status,
        "reason": "Busy",
        "message": "m",
        "lastTransitionTime": NOW,
        **more,
    }


@pytest.mark.parametrize(
    ("reports", "taken", "want"),
    [
        pytest.param([a_report()], [], [a_report(observedGeneration=2)], id="csv.md 18.7 row 146: mirrored"),
        pytest.param(
            [a_report()],
            [a_report(observedGeneration=2)],
            None,
            id="csv.md 18.7 row 146: unchanged, no write",
        ),
        pytest.param(
            [a_report(reason="Other")],
            [a_report(observedGeneration=1, lastTransitionTime=BEFORE)],
            [a_report(reason="Other", observedGeneration=2, lastTransitionTime=BEFORE)],
            id="csv.md 11.3 step 4: a newer generation is taken over, the status began when it began",
        ),
        pytest.param(
            [a_report("True")],
            [a_report(observedGeneration=1, lastTransitionTime=BEFORE)],
            [a_report("True", observedGeneration=2)],
            id="csv.md 11.3 step 4: another status begins anew",
        ),
        pytest.param(
            [],
            [a_report(observedGeneration=1)],
            None,
            id="csv.md 11.3 step 4: conditions removed from spec stay in status",
        ),
    ],
)
def test_reports_are_mirrored(
    reports: list[dict[str, Any]], taken: list[dict[str, Any]], want: list[dict[str, Any]] | None
) -> None:
    csv = a_csv(install=INSTALL)
    spec = {"serviceAccounts": ["b", "a", "b"], "deployments": ["d1", "d2"], "conditions": reports}
    world = stored(csv, spec=spec, status={"conditions": taken})

    assert run(csv, *world).writes == ((SetStatus(CONDITION, {"conditions": want}, "4"),) if want else ())


def test_a_version_that_is_being_replaced_is_enqueued() -> None:
    """csv.md 11.4: a changed condition concerns the owner, which tells its successor."""
    csv = a_csv(install=INSTALL, phase="Replacing")

    assert run(csv, *stored(csv)).emits == (Emit(names.REQUIREMENT_CHANGED, REF),)
