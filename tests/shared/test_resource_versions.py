"""Versions are equal or not; only decimal ones have an order."""

from __future__ import annotations

import pytest

from shared.resource_versions import is_newer, newer, weight


@pytest.mark.parametrize(
    ("one", "other", "want"),
    [
        pytest.param("10", "9", True, id="the longer number"),
        pytest.param("9", "10", False, id="the shorter number"),
        pytest.param("7", "7", False, id="the same"),
        pytest.param("1" + "0" * 30, "9" * 30, True, id="31 digits"),
        pytest.param("17536475470400150010", "17536475470400150009", True, id="20 digits"),
        pytest.param("b", "a", False, id="letters"),
        pytest.param("²", "1", False, id="a superscript"),
        pytest.param("07", "6", False, id="a leading zero"),
        pytest.param("7", "", False, id="nothing"),
    ],
)
def test_order(one: str, other: str, want: bool) -> None:
    assert is_newer(one, other) is want


def test_what_has_no_order_is_never_the_newer_one() -> None:
    assert [newer("7", "x"), newer("x", "7"), newer("x", "y"), newer("7", "8"), newer("", "3")] == [
        "7",
        "7",
        "",
        "8",
        "3",
    ]


def test_weights_tell_versions_apart_and_are_never_nothing() -> None:
    found = {weight(version) for version in ("", "1", "2", "9" * 40, "x", "²")}
    assert len(found) == 6
    assert min(found) > 0
