"""How objects are marked, and how the cluster's differ from what a revision wants (v1.md §21.7)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from shared import names
from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases.actions import Action, Drift
from shared.domain.extension.phases.objects import Claim
from shared.domain.extension.phases.stamp import claimed, drift, stamped

OURS, THEIRS = names.V1_MANAGER, "kubectl"
REVISION = ClusterObjectSet({
    "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterObjectSet", "metadata": {"name": "a-1", "uid": "u1"},
    "spec": {"revision": 1, "phases": [{"objects": [{}]}]},
})  # fmt: skip


def entry(fields: Any, manager: str = OURS, operation: str = "Apply", subresource: str = "") -> dict[str, Any]:
    reported = {"manager": manager, "operation": operation, "fieldsV1": fields}
    return {**reported, **({"subresource": subresource} if subresource else {})}


def an_object(*entries: Any, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a", "managedFields": list(entries)}, **fields}


SAME, MODIFIED, CONTESTED = Drift(), Drift(is_modified=True), Drift(is_modified=True, is_contested=True)
KEY = json.dumps({"name": "x"})


@pytest.mark.parametrize(
    ("desired", "actual", "want"),
    [
        pytest.param({"a": 1}, an_object(a=1), SAME, id="no account, the same"),
        pytest.param({"a": 1}, an_object(a=2), MODIFIED, id="no account, another"),
        pytest.param({"a": "1000m"}, an_object(entry({"f:a": {}}), a="1"), SAME, id="ours, spelled otherwise"),
        pytest.param({"a": 1}, an_object(entry({"f:a": {}}, THEIRS), a=2), CONTESTED, id="theirs"),
        pytest.param(
            {"a": 1}, an_object(entry({"f:a": {}}, THEIRS), a=1), Drift(is_contested=True), id="theirs, and the same"
        ),
        pytest.param({"a": 1, "b": None}, an_object(entry({"f:b": {}})), MODIFIED, id="nobody's"),
        pytest.param(
            {"a": {"b": 1}}, an_object(entry({"f:a": {}}), entry({"f:a": {"f:b": {}}}, THEIRS), a={"b": 2}), CONTESTED,
            id="what is left of an object",
        ),
        pytest.param({"a": {}}, an_object(entry({"f:a": {}}), a={}), SAME, id="an empty object"),
        pytest.param({"a": [1, 2]}, an_object(entry({"f:a": {}}), a=[2, 1]), SAME, id="a list as a whole"),
        pytest.param({"a": [1]}, an_object(entry({"f:a": {"v:1": {}}}), a=[1, 2]), SAME, id="an item of a set"),
        pytest.param({"a": [3]}, an_object(entry({"f:a": {"v:1": {}}}), a=[1]), MODIFIED, id="no item of a set"),
        pytest.param({"a": [3]}, an_object(entry({"f:a": {"v:1": {}}}), a=None), MODIFIED, id="no list"),
        pytest.param({"a": [{"b": 1}]}, an_object(entry({"f:a": {"i:0": {}}}), a=[]), MODIFIED, id="another key"),
        pytest.param(
            {"a": [{"name": "x", "b": 1}]},
            an_object(entry({"f:a": {f"k:{KEY}": {".": {}, "f:name": {}}}}), a=[{"name": "x", "b": 2}]), MODIFIED,
            id="a field of an item",
        ),
        pytest.param({"a": {"b": {"c": 1}}}, an_object(entry({"f:a": {"f:b": {"f:c": {}}}}), a=1), SAME, id="deep"),
        pytest.param({"a": 1}, an_object(entry({"f:a": {"f:b": {}}}), a={"b": 1}), SAME, id="a text for an object"),
        pytest.param(
            {"a": 1}, an_object(entry({"f:a": {}}), entry({"f:a": {}}, THEIRS, subresource="status"), a=1), SAME,
            id="a status is no claim",
        ),
    ],
)  # fmt: skip
def test_drift(desired: dict[str, Any], actual: dict[str, Any], want: Drift) -> None:
    whole = {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, **desired}
    assert drift(whole, actual) == want


def test_what_was_created_is_applied_from_now_on() -> None:
    created = entry({"f:a": {}, "f:b": {"f:c": {}}}, operation="Update")
    applied = entry({"f:b": {"f:d": {}}})
    other = entry({"f:e": {}}, THEIRS)
    found = claimed(an_object(created, applied, other))
    assert found is not None
    [mine, theirs] = found["metadata"]["managedFields"]
    assert mine == entry({"f:a": {}, "f:b": {"f:c": {}, "f:d": {}}})
    assert theirs == other
    assert claimed(an_object(applied, other)) is None


def test_a_revision_is_the_only_controller_of_its_objects() -> None:
    owners = [{"uid": "u0", "controller": True}, {"uid": "u2"}, {"uid": "u1"}]
    actual = an_object(metadata={"name": "a", "ownerReferences": owners})
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}}
    found = stamped(manifest, REVISION, actual, is_namespaced=False)["metadata"]
    assert found["ownerReferences"] == [{"uid": "u0", "controller": False}, {"uid": "u2"}, dict(REVISION.reference)]
    assert found["labels"] == {names.V1_MANAGED_BY: OURS, names.MANAGED: "true"}
    assert found["annotations"] == {names.V1_REVISION: "1"}
    assert "namespace" not in found


def test_a_probe_of_a_type_that_nobody_knows() -> None:
    probed = {**REVISION.raw, "spec": {**REVISION.spec, "progressionProbes": [{"selector": {"type": "Name"}}]}}
    task = Claim(ClusterObjectSet(probed), datetime(2026, 1, 1, tzinfo=UTC)).task(
        an_object(), None, (0, 0), is_namespaced=True
    )
    assert task.action is Action.CREATE
    assert task.result.probe.messages == ("unknown progressionProbe selector type: Name",)
