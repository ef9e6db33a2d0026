from __future__ import annotations

from typing import Any

import pytest

from functions.cluster_service_version.copy_csv import copy_csv
from shared import names
from shared.api.views import Csv
from shared.domain.csv.copies import copy_of, status_of_copy
from shared.kinds import CLUSTER_SERVICE_VERSION
from shared.step import NOTHING, Delete, Emit, Merge, Outcome
from tests.functions.operator_group.builders import a_csv, a_group
from tests.kit.cluster import FakeCluster

REF = CLUSTER_SERVICE_VERSION.ref("op.v1", "a")
PARENT = CLUSTER_SERVICE_VERSION.ref("op.v1", "ns")
GROUP = a_group(targets=[""])
ENQUEUED = (Emit(names.COPY_DUE, PARENT),)


def run(*objects: dict[str, Any]) -> Outcome:
    return copy_csv(REF, FakeCluster(objects))


def a_copy(csv: dict[str, Any], **change: Any) -> dict[str, Any]:
    copy = {**copy_of(Csv(csv), "a"), "status": status_of_copy(Csv(csv))}
    copy["metadata"]["uid"] = "u"
    return {**copy, **change}


@pytest.mark.parametrize(
    ("copy", "parent"),
    [
        pytest.param(
            a_csv(namespace="a", labels={"olm.copiedFrom": "ns"}),
            a_csv(member_of=GROUP),
            id="csv.md 10.4: it does not say where its operator runs",
        ),
        pytest.param(a_copy(a_csv(member_of=GROUP)), None, id="csv.md 10.4: no version of that name in that namespace"),
        pytest.param(
            a_copy(a_csv(member_of=GROUP)),
            a_csv(member_of=GROUP, phase="Failed", reason="InterOperatorGroupOwnerConflict"),
            id="csv.md 10.4: its original failed with a conflict",
        ),
        pytest.param(
            a_copy(a_csv(member_of=GROUP)),
            a_csv(member_of=a_group(targets=["b"])),
            id="csv.md 10.4: its original does not watch the namespace",
        ),
        pytest.param(
            a_copy(a_csv(member_of=GROUP)),
            a_csv(labels={"olm.copiedFrom": "x"}),
            id="csv.md 18.5 row 131: what it names is a copy itself",
        ),
    ],
)
def test_a_copy_without_a_place_is_deleted(copy: dict[str, Any], parent: dict[str, Any] | None) -> None:
    outcome = run(copy, *([parent] if parent else []))

    assert outcome.writes == (Delete(REF, copy["metadata"]["uid"]),)


@pytest.mark.parametrize(
    ("change", "emits"),
    [
        pytest.param({}, (), id="csv.md 10.4: a current copy enqueues nobody"),
        pytest.param({"spec": {}}, ENQUEUED, id="csv.md 18.6 row 136: an edited spec enqueues the original"),
        pytest.param({"status": {}}, ENQUEUED, id="csv.md 18.6 row 136: an edited status enqueues the original"),
    ],
)
def test_a_copy_in_its_place(change: dict[str, Any], emits: tuple[Emit, ...]) -> None:
    csv = a_csv(member_of=GROUP)

    outcome = run(csv, a_copy(csv, **change))

    assert (outcome.writes, outcome.emits) == ((), emits)


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param({}, id="csv.md 18.6 row 136: removed"),
        pytest.param({"olm.copiedFrom": "elsewhere"}, id="csv.md 18.6 row 136: changed"),
    ],
)
def test_a_copy_whose_label_was_edited_is_labelled_again(labels: dict[str, str]) -> None:
    copy = a_copy(a_csv(member_of=GROUP))
    copy["metadata"]["labels"] = labels

    assert run(copy).writes == (Merge(REF, {"metadata": {"labels": {"olm.copiedFrom": "ns"}}}),)


@pytest.mark.parametrize(
    ("finalizers", "emits"),
    [
        pytest.param([], (), id="csv.md 10.2: a copy has no finalizer"),
        pytest.param(
            ["operators.coreos.com/csv-cleanup"],
            (Emit(names.REQUIREMENT_CHANGED, REF),),
            id="csv.md 3.1: an original that was labelled as a copy has one, and must not wait for ever",
        ),
    ],
)
def test_a_copy_that_is_being_deleted(finalizers: list[str], emits: tuple[Emit, ...]) -> None:
    copy = a_copy(a_csv(member_of=GROUP))
    copy["metadata"] |= {"deletionTimestamp": "2025-01-02T00:00:00Z", "finalizers": finalizers}

    assert run(copy) == Outcome(emits=emits)


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(
            a_csv(namespace="a", annotations={"olm.operatorNamespace": "ns"}),
            id="csv.md 2.4: it was exported from another namespace",
        ),
        pytest.param(
            a_csv(namespace="a", annotations={"olm.operatorNamespace": "a"}, reason="Copied"),
            id="csv.md 2.4: its status says that it is a copy",
        ),
    ],
)
def test_what_only_looks_like_a_copy_is_left_alone_and_told(odd: dict[str, Any]) -> None:
    outcome = run(odd)

    assert (outcome.writes, outcome.emits) == ((), ())
    assert outcome.message.startswith("counts as a copy, and is not installed")


def test_an_original_is_none_of_its_business() -> None:
    assert run(a_csv(namespace="a")) == NOTHING


def test_a_copy_that_was_deleted_enqueues_its_original() -> None:
    """csv.md 18.6 row 137: recreated."""
    far = a_group("far", "elsewhere", targets=["b"])
    own = a_group("own", "a", targets=["a"])

    assert run(a_csv(member_of=GROUP), GROUP, far, own).emits == ENQUEUED


def test_a_copy_that_was_deleted_with_its_original_enqueues_nobody() -> None:
    assert run(GROUP, a_group("h", "other", targets=["a"])).emits == ()
