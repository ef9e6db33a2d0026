"""Label selectors as texts of requests."""

from __future__ import annotations

import pytest

from shared.domain.selectors import SelectorError, parsed, satisfying

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
    ("labels", "expressions", "want"),
    [
        pytest.param({"a": "x", "b.io/c": ""}, [], {"a": "x", "b.io/c": ""}, id="labels"),
        pytest.param({}, [("b", "In", ["y", "z"]), ("c", "Exists", [])], {"b": "y", "c": ""}, id="expressions"),
        pytest.param({"a": "x"}, [("a", "In", ["y"])], {}, id="a contradiction"),
        pytest.param({"a": "x"}, [("b", "DoesNotExist", [])], {}, id="what an object has may be in the way"),
        pytest.param({"--all": "x"}, [], {}, id="no label"),
        pytest.param({}, [], {}, id="nothing is demanded"),
    ],
)
def test_labels_that_satisfy_a_selector(
    labels: dict[str, str], expressions: list[tuple[str, str, list[str]]], want: dict[str, str]
) -> None:
    listed = [{"key": key, "operator": operator, "values": values} for key, operator, values in expressions]
    assert satisfying({"matchLabels": labels, "matchExpressions": listed}) == want


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
