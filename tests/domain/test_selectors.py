"""Label selectors as texts of requests."""

from __future__ import annotations

import pytest

from shared.domain.selectors import SelectorError, parsed

LABELS = {"app": "tea", "tier": "back"}


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("", True),
        ("app=tea", True),
        ("app==cup", False),
        ("app!=cup", True),
        ("app!=tea", False),
        ("absent!=x", True),
        ("app in (tea, cup)", True),
        ("tier in (front)", False),
        ("tier notin (front),app", True),
        ("tier notin (back)", False),
        ("app,!absent", True),
        ("!app", False),
        ("absent", False),
    ],
)
def test_what_fits(text: str, fits: bool) -> None:
    assert parsed(text)(LABELS) is fits


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("app=tea,", "found '', expected: identifier after ','"),
        ("=x", "unable to parse requirement: '=x'"),
        ("app=-", 'values[0][app]: Invalid value: "-"'),
        ("app in (a,-)", 'Invalid value: "-"'),
    ],
)
def test_what_is_no_selector(text: str, why: str) -> None:
    with pytest.raises(SelectorError) as error:
        parsed(text)
    assert why in str(error.value)
