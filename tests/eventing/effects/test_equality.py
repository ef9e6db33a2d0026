"""Which writes would change nothing, and are therefore not sent."""

from __future__ import annotations

from typing import Any

import pytest

from eventing.effects.equality import applied, is_subset, replaced
from shared.api.manifest import Manifest
from shared.names import FIELD_MANAGER


@pytest.mark.parametrize(
    ("desired", "present", "want"),
    [
        pytest.param({"a": 1}, {"a": 1, "b": 2}, True, id="others may have set more"),
        pytest.param({"a": {"b": 1}}, {"a": {}}, False, id="a field that is missing deep inside"),
        pytest.param([1, 2], [1, 2], True, id="equal lists"),
        pytest.param([1], [1, 2], False, id="a list that is longer"),
        pytest.param([{"a": 1}], [{"a": 1, "b": 2}], True, id="an item with a default"),
        pytest.param([], None, True, id="an empty list that the server returns as null"),
        pytest.param({}, None, True, id="an empty map that the server returns as null"),
        pytest.param([1], None, False, id="a list that is gone"),
        pytest.param(True, 1, False, id="a number is no truth value"),
        pytest.param("1", 1, False, id="a number is no text"),
    ],
)
def test_what_is_wanted_may_be_there_already(desired: Any, present: Any, want: bool) -> None:
    assert is_subset(desired, present) is want


def owned(fields: Manifest, manager: str = FIELD_MANAGER, operation: str = "Apply", **more: str) -> Manifest:
    """An object with `spec.a` and `spec.list`, of which a manager owns these fields."""
    entry = {"manager": manager, "operation": operation, "fieldsV1": fields, **more}
    return {"metadata": {"name": "x", "managedFields": [entry]}, "spec": {"a": 1, "list": [{"name": "n", "v": 1}]}}


DESIRED: Manifest = {"metadata": {"name": "x"}, "spec": {"a": 1, "list": [{"name": "n", "v": 1}]}}
ITEM = 'k:{"name":"n"}'


@pytest.mark.parametrize(
    ("present", "want"),
    [
        pytest.param(owned({"f:spec": {"f:a": {}}}), True, id="exactly what is wanted"),
        pytest.param(owned({"f:spec": {"f:b": {}}}), False, id="a field of ours that is wanted no more"),
        pytest.param(owned({"f:spec": {"f:b": {}}}, "kubectl"), True, id="a field of somebody else"),
        pytest.param(owned({"f:spec": {"f:b": {}}}, operation="Update"), True, id="a field that we did not apply"),
        pytest.param(owned({"f:status": {}}, subresource="status"), True, id="a field of the status"),
        pytest.param(owned({"f:spec": {"f:list": {ITEM: {".": {}, "f:v": {}}}}}), True, id="an item that is wanted"),
        pytest.param(
            owned({"f:spec": {"f:list": {ITEM: {"f:w": {}}}}}), False, id="a field of an item, wanted no more"
        ),
        pytest.param(owned({"f:spec": {"f:list": {'k:{"name":"m"}': {}}}}), False, id="an item that is wanted no more"),
        pytest.param(
            owned({"f:spec": {"f:list": {'k:{"name":"n","protocol":"TCP"}': {}}}}), True, id="a key that is a default"
        ),
        pytest.param(owned({"f:spec": {"f:a": {"v:1": {}}}}), False, id="a value of a list that is no list"),
        pytest.param(owned({"f:spec": {"i:0": {}}}), False, id="a kind of key that is not known"),
    ],
)
def test_an_apply_also_removes_what_is_wanted_no_more(present: Manifest, want: bool) -> None:
    assert applied(DESIRED, present) is want


@pytest.mark.parametrize(("value", "want"), [("a", True), ("b", False)])
def test_a_value_of_a_set_is_wanted_or_not(value: str, want: bool) -> None:
    entry = {
        "manager": FIELD_MANAGER, "operation": "Apply",
        "fieldsV1": {"f:metadata": {"f:finalizers": {f'v:"{value}"': {}}}},
    }  # fmt: skip
    present = {"metadata": {"finalizers": ["a"], "managedFields": [entry]}}
    assert applied({"metadata": {"finalizers": ["a"]}}, present) is want


def test_a_replacement_is_compared_with_its_version_if_it_names_one() -> None:
    present = {"metadata": {"name": "x", "resourceVersion": "7"}, "spec": {}}
    assert replaced(present, present)
    assert replaced({"metadata": {"name": "x"}, "spec": {}}, present)
    assert not replaced({"metadata": {"name": "x", "resourceVersion": "6"}, "spec": {}}, present)
    assert not replaced({"metadata": {"name": "x"}, "spec": {"a": 1}}, present)
