"""JSON paths of printer columns, selectors, and ages."""

from __future__ import annotations

from typing import Any

import pytest

from eventing.local.apiserver.tables import CELLS, json_path
from shared.domain.durations import in_two_units

VALUE = {
    "spec": {"a.b": 1, "list": [{"type": "X", "s": 1}, {"type": "Y", "s": 2}], "none": None},
    "metadata": {"labels": {"x/y": "z"}},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.list[0].s", [1]),
        (".spec.list[*].s", [1, 2]),
        ('.spec.list[?(@.type=="Y")].s', [2]),
        (".spec.list[?(@.type=='Z')].s", []),
        (r".spec.a\.b", [1]),
        (".metadata.labels['x/y']", ["z"]),
        (".spec.none", []),
        (".spec.absent.deeper", []),
        ("{.spec.list[1].type}", ["Y"]),
    ],
)
def test_paths_find(path: str, found: list[Any]) -> None:
    assert json_path(path, VALUE) == found


@pytest.mark.parametrize(("kind", "field", "column"), [
    ("NetworkPolicy", "podSelector", "Pod-Selector"), ("Deployment", "selector", "Selector"),
])  # fmt: skip
def test_a_selector_is_shown_with_all_that_it_requires(kind: str, field: str, column: str) -> None:
    expressions = [{"key": "b", "operator": "In", "values": ["z", "y"]}, {"key": "a", "operator": "Exists"}]
    selector = {"matchLabels": {"c": "d"}, "matchExpressions": expressions}
    assert CELLS[kind][column]({"spec": {field: selector}}) == "a,b in (y,z),c=d"
    assert CELLS[kind][column]({"spec": {field: {}}}) == "<none>"


@pytest.mark.parametrize(
    ("seconds", "reported"),
    [(0, "0s"), (119, "119s"), (120, "2m"), (150, "2m30s"), (600, "10m"), (7200, "120m"), (3 * 3600, "3h"),
     (3 * 3600 + 300, "3h5m"), (9 * 3600, "9h"), (50 * 3600, "2d2h"), (8 * 86400, "8d"), (800 * 86400, "2y")],
)  # fmt: skip
def test_ages_are_reported_as_kubectl_reports_them(seconds: int, reported: str) -> None:
    assert in_two_units(seconds) == reported
