"""Sets of fields: written and read back, told apart, merged and removed."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from eventing.local.apiserver import fieldsets
from eventing.local.apiserver.resources import Node

NODE: Node = {
    "type": "object",
    "properties": {
        "size": {"type": "integer"},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "items": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {"name": {"type": "string"}, "value": {"type": "string"}}},
        },
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "words": {"type": "array", "items": {"type": "string"}},
    },
}  # fmt: skip
word = st.sampled_from(["a", "b", "c"])
items = st.lists(st.fixed_dictionaries({"name": word}, optional={"value": word}), unique_by=lambda one: one["name"])
objects = st.fixed_dictionaries(
    {},
    optional={
        "size": st.integers(0, 3),
        "map": st.dictionaries(word, word),
        "items": items,
        "tags": st.lists(word, unique=True),
        "words": st.lists(word),
    },
)


@given(objects)
def test_fields_survive_the_form_of_managed_fields(value: Any) -> None:
    fields = set(fieldsets.set_paths(value, NODE))
    assert set(fieldsets.decode(fieldsets.encode(fields))) == {path for path in fields if path}


@given(objects, objects)
def test_what_was_applied_is_there_afterwards(old: Any, new: Any) -> None:
    merged = fieldsets.merge(old, new, NODE)
    change = fieldsets.Difference()
    change.find(merged, fieldsets.merge(merged, new, NODE), NODE)
    assert not change.written
    assert not change.removed


@given(objects, objects)
def test_a_merge_removes_nothing_that_is_not_replaced(old: Any, new: Any) -> None:
    change = fieldsets.Difference()
    change.find(old, fieldsets.merge(old, new, NODE), NODE)
    assert not change.removed


@given(objects)
def test_what_is_removed_is_gone(value: Any) -> None:
    fields = {path for path in fieldsets.set_paths(value, NODE) if path}
    left = fieldsets.remove(value, set(fieldsets.with_parents(fields)), NODE)
    assert left == {}


@given(objects)
def test_nothing_differs_from_itself(value: Any) -> None:
    change = fieldsets.Difference()
    change.find(value, dict(value), NODE)
    assert (change.written, change.removed) == (set(), set())
