from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from functions.cluster_service_version.copy_csvs import copy_csvs
from shared import names
from shared.kinds import CLUSTER_SERVICE_VERSION, OLM_CONFIG, OPERATOR_GROUP, Ref
from shared.ports import Attempt, Policy, WriteFailure
from shared.step import Create, Delete, Emit, Outcome, Record, Replace, SetStatus
from tests.functions.operator_group.builders import a_csv, a_group, a_namespace
from tests.kit.cluster import FakeCluster, FixedClock
from tests.kit.copies import FakeCopies

REF = CLUSTER_SERVICE_VERSION.ref("op.v1", "ns")
STATUS = {"phase": "Succeeded", "reason": "InstallSucceeded", "message": "fine"}
GLOBAL = a_group(targets=[""])
MANY = a_group(targets=["a", "b"])
NAMESPACES = [a_namespace(name) for name in ("a", "b", "c", "ns")]
GRANT_DUE = Emit(names.GRANT_DUE, OPERATOR_GROUP.ref("g", "ns"))


def run(*objects: dict[str, Any], attempt: Attempt | None = None, policy: Policy | None = None) -> Outcome:
    cluster = FakeCluster(objects)
    return copy_csvs(
        REF, cluster, FakeCopies(cluster), FixedClock(), policy=policy or Policy(), attempt=attempt or Attempt()
    )


def original(group: dict[str, Any] = GLOBAL, **more: Any) -> dict[str, Any]:
    return a_csv(**{"member_of": group, "status": STATUS, **more})


def copy_in(namespace: str, csv: dict[str, Any]) -> dict[str, Any]:
    """The copy that the step makes, as it is stored."""
    annotations = {**csv["metadata"]["annotations"], "olm.targetNamespaces": namespace}
    member = {**csv, "metadata": {**csv["metadata"], "annotations": annotations}}
    outcome = run(member, a_group(targets=[namespace]), a_namespace(namespace))
    (made,) = (write.manifest for write in outcome.writes if isinstance(write, Create))
    (status,) = (write.status for write in outcome.writes if isinstance(write, SetStatus))
    meta = {**made["metadata"], "uid": f"uid-{namespace}", "resourceVersion": "3"}
    return {**made, "metadata": meta, "status": status}


def made_in(outcome: Outcome) -> list[str]:
    return [Ref.of(write.manifest).namespace for write in outcome.writes if isinstance(write, Create)]


@pytest.mark.parametrize(
    ("group", "namespaces"),
    [
        pytest.param(GLOBAL, ["a", "b", "c"], id="csv.md 18.5 row 116: every other namespace"),
        pytest.param(a_group(targets=["a", "gone", "ns"]), ["a"], id="csv.md 10.3: targets that exist, not our own"),
        pytest.param(a_group(targets=["ns"]), [], id="csv.md 10.1: a group that selects its own namespace only"),
    ],
)
def test_where_copies_are_made(group: dict[str, Any], namespaces: list[str]) -> None:
    outcome = run(group, original(group), *NAMESPACES)

    assert made_in(outcome) == namespaces
    assert outcome.emits == ((GRANT_DUE,) if namespaces else ())


def test_a_version_that_is_no_copy_of_it_is_not_touched() -> None:
    """csv.md 10.2: somebody else installed a version of the same name there."""
    group, theirs = a_group(namespace="b", targets=["b"]), a_csv(namespace="b", status=STATUS)

    outcome = run(GLOBAL, original(), group, theirs, *NAMESPACES)

    assert made_in(outcome) == ["a", "c"]
    assert all(write.ref.namespace != "b" for write in outcome.writes if isinstance(write, SetStatus | Delete))
    assert outcome.message == "copies belong into 3 namespaces; another version has the name in b"


def test_a_version_that_appears_meanwhile_is_looked_at_again() -> None:
    """Its status would else be replaced by that of a copy."""
    assert all(write.must_be_new for write in run(GLOBAL, original(), *NAMESPACES).writes if isinstance(write, Create))


def test_what_a_copy_looks_like() -> None:
    """csv.md 10.2, 18.5 row 127, 18.6 row 135."""
    csv = original(
        labels={"operators.coreos.com/op.ns": "", "mine": "1"},
        annotations={"kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "x"},
    )

    create, status = run(GLOBAL, csv, a_namespace("a")).writes

    assert create == Create(
        {
            "apiVersion": "operators.coreos.com/v1alpha1",
            "kind": "ClusterServiceVersion",
            "metadata": {
                "name": "op.v1",
                "namespace": "a",
                "labels": {"mine": "1", "olm.copiedFrom": "ns"},
                "annotations": {"note": "x", "olm.operatorGroup": "g", "olm.operatorNamespace": "ns"},
            },
            "spec": csv["spec"],
        },
        must_be_new=True,
    )
    message = "The operator is running in ns but is managing this namespace"
    assert status == SetStatus(
        CLUSTER_SERVICE_VERSION.ref("op.v1", "a"), {**STATUS, "reason": "Copied", "message": message}
    )


def test_two_hundred_namespaces_cost_two_writes_each() -> None:
    """Issue 3 §4: one global operator over 200 namespaces ≤ 420 writes."""
    outcome = run(GLOBAL, original(), *(a_namespace(f"n{number}") for number in range(200)))

    assert len(outcome.writes) == 400


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        pytest.param({}, [], id="csv.md 18.6 row 134: neither hash differs"),
        pytest.param({"spec": {"displayName": "hacked"}}, [Replace], id="csv.md 18.6 row 134: spec differs"),
        pytest.param({"status": {"phase": "Failed"}}, [SetStatus], id="csv.md 18.6 row 134: status differs"),
        pytest.param(
            {"spec": {}, "status": {}}, [Replace, SetStatus], id="csv.md 18.6 row 134: both differ; row 136: reverted"
        ),
    ],
)
def test_an_existing_copy(change: dict[str, Any], kinds: list[type]) -> None:
    csv = original(MANY)

    outcome = run(MANY, csv, {**copy_in("a", csv), **change}, copy_in("b", csv), *NAMESPACES)

    assert [type(write) for write in outcome.writes] == kinds


def test_a_replaced_copy_is_locked_at_what_was_read() -> None:
    csv = original(MANY)

    (write,) = run(MANY, csv, {**copy_in("a", csv), "spec": {}}, copy_in("b", csv), *NAMESPACES).writes

    assert isinstance(write, Replace)
    assert write.manifest["metadata"]["resourceVersion"] == "3"


@pytest.mark.parametrize(
    "touched",
    [
        pytest.param({"annotations": {"note": "new"}}, id="issue 3 §4: one annotation is touched: no copy is written"),
        pytest.param(
            {"status": {**STATUS, "lastUpdateTime": "2026-01-01T00:00:00Z", "conditions": [{"phase": "Succeeded"}]}},
            id="issue 3 §4: times and history alone are no change",
        ),
    ],
)
def test_a_touch_of_the_original_costs_nothing(touched: dict[str, Any]) -> None:
    csv = original(MANY)

    assert run(MANY, original(MANY, **touched), copy_in("a", csv), copy_in("b", csv), *NAMESPACES).writes == ()


def test_copies_outside_the_targets_go() -> None:
    """csv.md 10.3, 18.5 row 130: a group that was narrowed."""
    csv = original(a_group(targets=["ns"]))

    outcome = run(a_group(targets=["ns"]), csv, copy_in("b", csv), copy_in("a", csv), *NAMESPACES)

    assert outcome.writes == tuple(Delete(CLUSTER_SERVICE_VERSION.ref("op.v1", name), f"uid-{name}") for name in "ab")


@pytest.mark.parametrize(
    ("reason", "gone"),
    [
        pytest.param("InterOperatorGroupOwnerConflict", ["a"], id="csv.md 10.4, 18.5 row 125: a conflict takes copies"),
        pytest.param("UnsupportedOperatorGroup", [], id="csv.md 10.4: other failures leave copies; 18.5 row 118"),
    ],
)
def test_a_version_that_must_not_be_copied(reason: str, gone: list[str]) -> None:
    csv = original(MANY)
    failed = original(MANY, status={"phase": "Failed", "reason": reason})

    outcome = run(MANY, failed, copy_in("a", csv), *NAMESPACES)

    assert [write.ref.namespace for write in outcome.writes if isinstance(write, Delete)] == gone
    assert len(outcome.writes) == len(gone)


def test_a_terminating_namespace_gets_no_copy() -> None:
    """csv.md 10.3: e.g. terminating namespaces are skipped; 18.6 row 140."""
    closing = {**a_namespace("b"), "status": {"phase": "Terminating"}}

    assert made_in(run(GLOBAL, original(), a_namespace("a"), closing)) == ["a"]


def test_copies_follow_a_deleted_original() -> None:
    """csv.md 3.5, 10.4: no version of that name in that namespace; those of other versions stay."""
    copy = copy_in("a", original())
    other = {**copy_in("b", original()), "metadata": {**copy["metadata"], "name": "other.v1"}}

    assert run(copy, other).writes == (Delete(CLUSTER_SERVICE_VERSION.ref("op.v1", "a"), "uid-a"),)


@pytest.mark.parametrize("first", [(), (GLOBAL, original())], ids=["of a deleted original", "outside the targets"])
def test_a_copy_that_a_finalizer_keeps_is_not_deleted_again(first: tuple[dict[str, Any], ...]) -> None:
    copy = copy_in("a", original())
    copy["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["mine.io/x"]}

    assert run(*first, copy).writes == ()


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([original()], id="csv.md 3.1 step 7: no group"),
        pytest.param([a_csv(status=STATUS), GLOBAL], id="csv.md 3.1 step 7: not annotated yet"),
        pytest.param([original(), MANY], id="csv.md 3.1 step 7: the targets differ"),
        pytest.param([original(), GLOBAL, a_group("h", targets=[""])], id="csv.md 3.1 step 7: two groups"),
        pytest.param([a_csv(labels={"olm.copiedFrom": "x"}), GLOBAL], id="csv.md 3.1 step 4: a copy is not copied"),
    ],
)
def test_only_members_are_copied(objects: list[dict[str, Any]]) -> None:
    outcome = run(*objects, a_namespace("a"))

    assert (outcome.writes, outcome.emits) == ((), ())


@pytest.mark.parametrize(
    ("group", "made"),
    [
        pytest.param(GLOBAL, [], id="issue 3 §4: many namespaces wait until the phase has lasted"),
        pytest.param(MANY, ["a", "b"], id="csv.md 10.1: a few targets get their copy, and rights, at once"),
    ],
)
def test_a_phase_that_has_just_begun(group: dict[str, Any], made: list[str]) -> None:
    status = {"phase": "Installing", "reason": "InstallWaiting", "lastTransitionTime": "2025-12-31T23:59:57Z"}

    outcome = run(group, original(group, status=status), *NAMESPACES)

    assert made_in(outcome) == made
    assert outcome.again_in == timedelta(seconds=7)


def test_a_phase_that_lasts_is_copied() -> None:
    """csv.md 3.1 step 10: Pending and Failed versions are copied, too."""
    status = {"phase": "Pending", "reason": "RequirementsNotMet", "lastTransitionTime": "2025-12-31T23:00:00Z"}

    assert made_in(run(GLOBAL, original(status=status), *NAMESPACES)) == ["a", "b", "c"]


def test_a_namespace_that_refuses_does_not_keep_the_others_waiting() -> None:
    """csv.md 10.3: per-namespace errors are skipped."""
    refused = WriteFailure("forbidden", "exceeded quota", 0, CLUSTER_SERVICE_VERSION.ref("op.v1", "b"))

    outcome = run(GLOBAL, original(), *NAMESPACES, attempt=Attempt(1, refused))

    assert made_in(outcome) == ["c"]
    assert outcome.again_in == timedelta(minutes=1)


def test_every_attempt_begins_elsewhere() -> None:
    assert made_in(run(GLOBAL, original(), *NAMESPACES, attempt=Attempt(3))) == ["c", "a", "b"]


def a_config(*, disabled: bool) -> dict[str, Any]:
    return {
        "apiVersion": "operators.coreos.com/v1",
        "kind": "OLMConfig",
        "metadata": {"name": "cluster"},
        "spec": {"features": {"disableCopiedCSVs": disabled}},
    }


def an_event(name: str, csv: dict[str, Any]) -> dict[str, Any]:
    about = {key: csv["metadata"][key] for key in ("namespace", "name", "uid")}
    meta = {"name": name, "namespace": "ns", "uid": f"uid-{name}"}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": meta,
        "involvedObject": about,
        "reason": "DisabledCopiedCSVs",
    }


NOTICE = Record(REF, "Warning", "DisabledCopiedCSVs", "CSV copying disabled for ns/op.v1")
CONFIG_RUNG = Emit(names.DEPENDENT_CHANGED, OLM_CONFIG.ref("cluster"))


def test_disabled_copies_vanish_but_from_protected_namespaces() -> None:
    """csv.md 10.6, 18.6 row 138."""
    csv = original()
    policy = Policy(protected_copy_namespaces=("b", "ns"))

    outcome = run(GLOBAL, csv, copy_in("a", csv), *NAMESPACES, a_config(disabled=True), policy=policy)

    assert outcome.writes[0] == Delete(CLUSTER_SERVICE_VERSION.ref("op.v1", "a"), "uid-a")
    assert made_in(outcome) == ["b"]
    assert outcome.writes[-1] == NOTICE
    assert outcome.emits == (GRANT_DUE, CONFIG_RUNG)


def test_disabling_concerns_global_groups_only() -> None:
    """csv.md 10.6: others are copied regardless."""
    assert made_in(run(MANY, original(MANY), *NAMESPACES, a_config(disabled=True))) == ["a", "b"]


@pytest.mark.parametrize(
    ("disabled", "events", "writes"),
    [
        pytest.param(True, 1, [], id="csv.md 10.6 step 3: one is kept"),
        pytest.param(True, 2, ["e1"], id="csv.md 10.6 step 3: several become one"),
        pytest.param(False, 2, ["e0", "e1"], id="csv.md 10.6: enabled again, they go"),
    ],
)
def test_one_event_tells_of_disabled_copying(disabled: bool, events: int, writes: list[str]) -> None:
    csv = original()
    reported = [an_event(f"e{number}", csv) for number in range(events)]
    elsewhere = an_event("other", a_csv("other.v1"))

    outcome = run(GLOBAL, csv, *reported, elsewhere, a_config(disabled=disabled))

    assert [write.ref.name for write in outcome.writes if isinstance(write, Delete)] == writes
    assert NOTICE not in outcome.writes
