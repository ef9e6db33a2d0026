"""Views answer in their types whatever an object contains, and are values."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError
from datetime import datetime
from inspect import getmodule, getsource
from itertools import pairwise, product
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from shared.api import views
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import ABSENT, Csv, Object, OperatorGroup, Subscription, View

KINDS = [one for one in (getattr(views, name) for name in views.__all__) if isinstance(one, type)]
JUNK = (None, -1, 1.5, True, "2026-01-01T00:00:00", ["x", 7, None, {}], {"x": 7}, {"x": ["x"]})


def paths(kind: type[View]) -> set[tuple[str, ...]]:
    """What the properties of a view read: the keys in its module, and in that of all views."""
    sources = [getsource(module) for one in kind.__mro__[:-1] if (module := getmodule(one))]
    calls = (node for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    keys = (tuple(one.value for one in call.args if isinstance(one, ast.Constant)) for call in calls)
    return {tuple(map(str, found)) for found in keys if found}


def hostile(kind: type[View]) -> Iterator[ReadOnly]:
    """An object for each place that a property reads, or lies above one, and each value that is wrong somewhere."""
    places = {path[:length] for path in paths(kind) for length in range(1, len(path) + 1)}
    for place, junk in product(sorted(places), JUNK):
        raw: Any = junk
        for key in reversed(place):
            raw = {key: raw}
        yield raw


def properties(kind: type[View]) -> dict[str, Any]:
    """The type of each property of a view."""
    found = {name: getattr(kind, name) for name in dir(kind) if isinstance(getattr(kind, name), property)}
    return {name: get_type_hints(one.fget)["return"] for name, one in found.items()}


def fits(value: object, hint: Any) -> bool:
    if hint is Any:
        return True
    if isinstance(hint, UnionType):
        return any(fits(value, one) for one in get_args(hint))
    if get_origin(hint) is tuple:
        items = get_args(hint)
        desired = [items[0]] * len(value) if items[-1] is Ellipsis and isinstance(value, tuple) else items
        return isinstance(value, tuple) and all(map(fits, value, desired))
    if get_origin(hint) in (Mapping, dict):
        _, desired = get_args(hint)
        return isinstance(value, Mapping) and (desired is Any or all(fits(one, desired) for one in value.values()))
    return type(value) is hint or ((hint in (datetime, NoneType) or issubclass(hint, View)) and isinstance(value, hint))


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_of_another_type_is_absent(kind: type[View]) -> None:
    hints = properties(kind)
    for raw in hostile(kind):
        for name, hint in hints.items():
            value = getattr(kind(raw), name)
            assert fits(value, hint), (name, raw, value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_has_its_meaning_below_it(kind: type[View]) -> None:
    """A linter looks for the docstrings of methods only."""
    declared = ast.parse(getsource(kind)).body[0]
    assert isinstance(declared, ast.ClassDef)
    for one, below in pairwise([*declared.body, ast.Pass()]):
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call):
            assert ast.unparse(below).startswith(("'", '"')), ast.unparse(one)


@pytest.mark.parametrize("raw", [{"metadata": {"labels": {"a": "b", "c": 7}}}, {"metadata": {"labels": 7}}])
def test_labels_are_texts(raw: Manifest) -> None:
    found = Object(raw)
    assert found.labels == {key: value for key, value in found.labels.items() if isinstance(value, str)}
    assert [found.label("c"), found.annotation("c")] == [None, None]


@pytest.mark.parametrize("kind", KINDS)
def test_a_view_has_no_room_for_anything_else(kind: type[View]) -> None:
    assert not hasattr(kind({}), "__dict__")
    with pytest.raises(FrozenInstanceError):
        kind({}).raw = {"other": 1}  # type: ignore[misc]  # what must not work


def test_views_of_the_same_content_are_equal() -> None:
    assert Csv({"spec": {}}) == Csv({"spec": {}}) != Csv({})
    other: View = Subscription({})
    assert Csv({}) != other
    assert Csv.each(({}, {"a": 1})) == (Csv({}), Csv({"a": 1}))


def test_nothing_has_no_view() -> None:
    assert Csv.of(None) is None
    assert Csv.of({}) == Csv({})


def test_a_condition_that_is_not_there_states_nothing() -> None:
    group = OperatorGroup({"status": {"conditions": [{"type": "A", "status": "True", "reason": "R"}]}})
    assert [group.condition("A").reason, group.condition("B")] == ["R", ABSENT]
    assert [group.has_condition("A"), group.has_condition("B")] == [True, False]
    assert not ABSENT.is_true


def a_copy(labels: Manifest, annotations: Manifest, reason: str = "") -> Csv:
    meta = {"namespace": "here", "labels": labels, "annotations": annotations}
    return Csv({"metadata": meta, "status": {"reason": reason}})


@pytest.mark.parametrize(
    ("csv", "is_copy", "origin"),
    [
        pytest.param(a_copy({}, {}), False, "", id="csv.md 2.4: none of the marks"),
        pytest.param(a_copy({}, {"olm.operatorNamespace": "here"}), False, "here", id="csv.md 2.4: its own namespace"),
        pytest.param(a_copy({}, {"olm.operatorNamespace": "there"}), True, "there", id="csv.md 2.4: another namespace"),
        pytest.param(a_copy({}, {"olm.operatorNamespace": ""}), True, "", id="csv.md 2.4: no namespace is another one"),
        pytest.param(a_copy({"olm.copiedFrom": "there"}, {}), True, "there", id="csv.md 2.4: the label"),
        pytest.param(a_copy({"olm.copiedFrom": ""}, {}), True, "", id="csv.md 2.4: the label, whatever it says"),
        pytest.param(a_copy({}, {}, "Copied"), True, "", id="csv.md 2.4: the reason"),
    ],
)
def test_what_a_copy_is(csv: Csv, is_copy: bool, origin: str) -> None:
    assert (csv.is_copy, csv.origin) == (is_copy, origin)
