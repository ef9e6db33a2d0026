"""Rules in CEL (resolver.md §4.4, §15)."""

from __future__ import annotations

import pytest

from shared.domain.catalog.model import Property
from shared.domain.resolver.cel import InvalidRule, rule
from tests.domain.resolver.scenery import (
    ask,
    catalog,
    chosen,
    constraint,
    releases,
    sub,
)

PROPERTIES = (
    Property("olm.package", {"packageName": "p", "version": "1.2.3"}),
    Property("n", 5),
    Property("s", "str"),
    Property("l", [1, "a"]),
    Property("nul", None),
    Property("b", True),
)


@pytest.mark.parametrize(
    ("source", "want"),
    [
        ("properties.exists(p, p.type == 'n' && p.value == 5)", True),
        ("properties.exists(p, p.type == 'n' && p.value > 4)", True),
        ("properties.exists(p, p.type == 'n' && type(p.value) == double)", True),
        ("properties.exists(p, p.type == 'n' && int(p.value) + 1 == 6)", True),
        ("properties.exists(p, p.type == 'l' && 1 in p.value)", True),
        ("properties.exists(p, p.type == 'b' && p.value)", True),
        ("semver_compare('1.2.3', 'v1.2.3+build') == 0", True),
        ("semver_compare('1.0.0-rc1', '1.0.0') < 0", True),
        ("semver_compare(1.2, '1.2.0') == 0", True),
        ("semver_compare(5.0, '5') == 0", True),
        ("semver_compare(1000000.0, '1000000') == 0", False),  # Go prints 1e+06
        ("properties.exists(p, p.type == 'n' && p.value + 1 == 6)", False),
        ("semver_compare('', '1.0.0') < 0", False),
        ("semver_compare(null, '1.2.0') == 0", False),
        ("1/0 == 1", False),
        ("properties.exists(p, p.type == 5)", False),
    ],
)
def test_vectors(source: str, *, want: bool) -> None:
    """resolver.md 15: what a rule says about these properties."""
    assert rule(source)(PROPERTIES) is want


@pytest.mark.parametrize(
    "source",
    [
        "properties[1].value",
        "properties.exists(p, p == 5)",
        "semver_compare('1.0.0') == 0",
        "foo == 1",
        "1",
        "",
        "'A'.lowerAscii() == 'a'",
    ],
)
def test_a_rule_that_is_none(source: str) -> None:
    """resolver.md 15: compile errors."""
    with pytest.raises(InvalidRule):
        rule(source)


def test_a_rule_that_runs_for_too_long_is_given_up() -> None:
    nested = "properties.all(a, properties.all(b, properties.all(c, properties.all(d, a.type != 'zz'))))"
    with pytest.raises(InvalidRule, match="was given up"):
        rule(nested)(PROPERTIES * 20)


def test_a_rule_is_given_up_for_a_value_that_is_nested_too_deeply() -> None:
    """resolver.md 13 B7: what is wrong with one version stops those who want it."""
    nested: object = []
    for _ in range(2000):
        nested = [nested]
    with pytest.raises(InvalidRule, match="was given up"):
        rule("properties.exists(p, p.type == 'q')")([Property("t", nested)])


def test_who_states_a_rule_that_runs_for_too_long_cannot_be_had_and_others_can() -> None:
    """resolver.md 13 B7: what is wrong with one version stops those who want it."""
    numbers = "[0,1,2,3,4,5,6,7,8,9]"
    endless = f"{numbers}.all(a, " * 6 + "true" + ")" * 6
    states = constraint(failureMessage="", cel={"rule": endless})
    here = catalog(releases("a", 2, v2=[states]), releases("b", 1))
    assert chosen(ask(here, subs=[sub("a"), sub("b")], whole=False)) == ["a.v1", "b.v1"]
    only = ask(catalog(releases("a", 1, v1=[states])), subs=[sub("a")], whole=False)
    assert [one["code"] for one in only["conflict"]] == ["Flawed", "SubscriptionExists", "Candidates"]
    [sentence] = chosen(ask(here, subs=[sub("a"), sub("b")]))
    assert "was given up: " in sentence
