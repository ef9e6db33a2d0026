"""What counts as a difference between a wanted object and the stored one."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.subset import covers


@pytest.mark.parametrize(
    ("live", "desired", "want"),
    [
        pytest.param({"a": 1, "b": 2}, {"a": 1}, True, id="more than wanted"),
        pytest.param({"a": 1}, {"a": 2}, False, id="another value"),
        pytest.param({}, {"a": {}}, True, id="an empty value that the server dropped"),
        pytest.param({}, {"a": 1}, False, id="nothing there"),
        pytest.param([1, 2], [1], False, id="a longer list"),
        pytest.param([{"a": 1, "b": 2}], [{"a": 1}], True, id="lists, item by item"),
    ],
)
def test_covers(live: Any, desired: Any, want: bool) -> None:
    assert covers(live, desired) is want
