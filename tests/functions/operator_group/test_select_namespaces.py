from __future__ import annotations

from typing import Any

import pytest

from functions.operator_group.select_namespaces import select_namespaces
from shared import names
from shared.api.manifest import Manifest
from shared.kinds import NAMESPACE, OPERATOR_GROUP, SERVICE_ACCOUNT
from shared.step import NOTHING, Emit, Merge, Outcome, SetStatus
from tests.functions.operator_group.builders import a_group, a_namespace
from tests.kit.cluster import FakeCluster, FixedClock

REF = OPERATOR_GROUP.ref("g", "ns")
STAMP = "2026-01-01T00:00:00Z"
LABEL = "olm.operatorgroup.uid/uid-g"


def run(*objects: dict[str, Any]) -> Outcome:
    return select_namespaces(REF, FakeCluster(objects), FixedClock())


def label(namespace: str, value: str | None = "") -> Merge:
    return Merge(NAMESPACE.ref(namespace), {"metadata": {"labels": {LABEL: value}}})


def status(outcome: Outcome) -> dict[str, Any]:
    (write,) = (write for write in outcome.writes if isinstance(write, SetStatus))
    assert (write.ref, write.resource_version) == (REF, "7")
    return write.status


@pytest.mark.parametrize(
    ("group", "namespaces", "labelled"),
    [
        pytest.param(a_group(), [""], [], id="csv.md 18.5 row 120: all namespaces, no label"),
        pytest.param(a_group(targetNamespaces=["b", "gone"]), ["b", "gone"], ["b"], id="csv.md 8.2: exactly that set"),
        pytest.param(
            a_group(selector={"matchLabels": {"team": "x"}}), ["a", "b"], ["a", "b"], id="csv.md 8.2: what matches"
        ),
    ],
)
def test_targets_and_labels(group: dict[str, Any], namespaces: list[str], labelled: list[str]) -> None:
    """csv.md 8.3 step 4, 8.6; csv.md 18.5 row 112."""
    outcome = run(group, a_namespace("a", team="x"), a_namespace("b", team="x"), a_namespace("c"))

    assert status(outcome) == {"namespaces": namespaces, "lastUpdated": STAMP}
    assert [write for write in outcome.writes if isinstance(write, Merge)] == [label(name) for name in labelled]


def test_nothing_is_written_when_nothing_changes() -> None:
    """csv.md 18.5 row 120: no write when in sync."""
    group = a_group(targets=["a"], targetNamespaces=["a"])

    assert run(group, a_namespace("a", **{LABEL: ""})).writes == NOTHING.writes


def test_a_namespace_that_is_no_target_any_more_loses_its_label() -> None:
    """csv.md 18.5 row 120: removed on target change."""
    group = a_group(targets=["a"], targetNamespaces=["a"])

    outcome = run(group, a_namespace("a", **{LABEL: ""}), a_namespace("b", **{LABEL: ""}))

    assert outcome.writes == (label("b", None),)


def test_labels_of_other_groups_stay() -> None:
    other = a_group("other", "elsewhere", targets=["a"], targetNamespaces=["a"])
    group = a_group(targets=["a"], targetNamespaces=["a"])

    outcome = run(group, other, a_namespace("a", **{LABEL: "", "olm.operatorgroup.uid/uid-other": ""}))

    assert outcome.writes == ()


def test_several_groups_each_get_the_condition() -> None:
    """csv.md 8.3 step 1, 18.5 row 119: MultipleOperatorGroup on both; the neighbour is enqueued for its own."""
    outcome = run(a_group(targets=[""]), a_group("h", targets=[""]))

    (condition,) = status(outcome)["conditions"]
    assert (condition["type"], condition["reason"]) == ("MultipleOperatorGroup", "MultipleOperatorGroupsFound")
    assert outcome.emits == (Emit(names.GROUP_CHANGED, OPERATOR_GROUP.ref("h", "ns")),)


def test_the_condition_goes_when_one_group_remains() -> None:
    """csv.md 18.5 row 119: removed when one remains."""
    group = a_group(targets=[""])
    group["status"]["conditions"] = [{"type": "MultipleOperatorGroup", "status": "True"}]

    assert status(run(group)) == {"namespaces": [""], "lastUpdated": STAMP}


def test_a_service_account_that_does_not_exist_is_reported() -> None:
    """csv.md 18.5 row 119: SA missing. The namespaces are selected all the same: nothing is installed in them."""
    outcome = run(a_group(targets=[""], serviceAccountName="limited"))

    assert status(outcome)["namespaces"] == [""]
    (condition,) = status(outcome)["conditions"]
    assert (condition["type"], condition["status"]) == ("OperatorGroupServiceAccount", "True")
    assert (condition["reason"], condition["message"]) == ("ServiceAccountNotFound", "ServiceAccount limited not found")


def test_a_service_account_that_exists_is_referred_to_and_labelled() -> None:
    """csv.md 18.5 row 119: SA exists; §8.3 step 2: it gets the label `olm.managed`."""
    outcome = run(a_group(targets=[""], serviceAccountName="limited"), an_account("limited", "u1"))

    assert status(outcome)["serviceAccountRef"] == {
        "apiVersion": "v1", "kind": "ServiceAccount", "namespace": "ns", "name": "limited", "uid": "u1",
        "resourceVersion": "7",
    }  # fmt: skip
    assert "conditions" not in status(outcome)
    labelled = Merge(SERVICE_ACCOUNT.ref("limited", "ns"), {"metadata": {"labels": {"olm.managed": "true"}}})
    assert labelled in outcome.writes


def test_another_version_of_the_same_account_writes_nothing() -> None:
    """csv.md §19-22: only the uid tells one account from another."""
    group = a_group(targets=[""], serviceAccountName="limited")
    account = an_account("limited", "u1", **{"olm.managed": "true"})
    group["status"] = status(run(group, account))

    assert run(group, {**account, "metadata": {**account["metadata"], "resourceVersion": "8"}}).writes == ()
    again = an_account("limited", "u2", **{"olm.managed": "true"})
    assert status(run(group, again))["serviceAccountRef"]["uid"] == "u2"


def an_account(name: str, uid: str, **labels: str) -> Manifest:
    meta = {"name": name, "namespace": "ns", "uid": uid, "resourceVersion": "7", "labels": labels}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}


def test_all_namespaces_in_the_list_leaves_the_targets_as_they_were() -> None:
    """csv.md 8.2: sync fails, status unchanged; we say so in a condition."""
    outcome = run(a_group(targets=["a"], targetNamespaces=["a", ""]), a_namespace("a", **{LABEL: ""}))

    assert status(outcome)["namespaces"] == ["a"]
    assert "NamespaceAll" in status(outcome)["conditions"][0]["message"]


def test_a_group_that_shrinks_enqueues_its_former_conflicting_ones() -> None:
    """csv.md 9.3: a group's targets shrink; providers in the groups that it met may recover."""
    met = a_group("met", "other", targets=["b"])
    never_met = a_group("far", "away", targets=["c"])

    outcome = run(a_group(targets=["a", "b"], targetNamespaces=["a"]), met, never_met, a_namespace("a", **{LABEL: ""}))

    assert outcome.emits == (Emit(names.GROUP_CONFLICT_CHANGED, OPERATOR_GROUP.ref("met", "other")),)


def test_a_deleted_group_leaves_no_labels_and_enqueues_the_others() -> None:
    """csv.md 8.11, 18.5 row 120: removed on deletion; its neighbour is alone again."""
    sibling = a_group("h", targets=[""])
    sibling["status"]["conditions"] = [{"type": "MultipleOperatorGroup", "status": "True"}]

    outcome = run(sibling, a_namespace("a", **{LABEL: "", "mine": "1"}), a_namespace("b"))

    assert outcome.writes == (label("a", None),)
    assert outcome.emits == (
        Emit(names.GROUP_CHANGED, OPERATOR_GROUP.ref("h", "ns")),
        Emit(names.GROUP_CONFLICT_CHANGED, OPERATOR_GROUP.ref("h", "ns")),
    )
