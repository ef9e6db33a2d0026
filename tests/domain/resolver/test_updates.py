"""What Subscriptions get, and move to (resolver.md §5, §12.7, §12.8, §12.10)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.resolver.scenery import (
    DEPRECATED,
    GLOBAL,
    NOT,
    ask,
    bundle,
    catalog,
    channel,
    chosen,
    csv,
    entry,
    gives,
    needs,
    needs_package,
    package,
    releases,
    sub,
    two_chains,
)

FORK = two_chains("a")
A3 = catalog(releases("a", 3))
SKIPPING = catalog(package("a", [entry("a.v3", "a.v1", skips=["a.v2"]), entry("a.v2", "a.v1"), entry("a.v1")]))
BOTH = catalog(releases("a", 1), releases("b", 1))

HEADLESS = 'no channel heads (entries not replaced by another entry) found in channel "stable" of package "a"'


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        pytest.param(ask(A3, subs=[sub("a")]), ["a.v3"], id="resolver.md 12 row 133: chain of three, newest"),
        pytest.param(ask(A3, subs=[sub("a", starting="a.v2")]), ["a.v2"], id="resolver.md 12 row 123: startingCSV"),
        pytest.param(
            ask(A3, subs=[sub("a", installed="a.v1")], csvs=[csv("a.v1")]),
            ["a.v2"],
            id="resolver.md 12 row 108: one hop",
        ),
        pytest.param(
            ask(A3, subs=[sub("a", installed="a.v3")], csvs=[csv("a.v3")]),
            [],
            id="resolver.md 12 row 103: nothing newer",
        ),
        pytest.param(
            ask(A3, subs=[sub("a", installed="a.v1", starting="a.v1")]),
            ["a.v1"],
            id="resolver.md 12 row 111: the installed CSV is gone, so startingCSV counts again",
        ),
        pytest.param(ask(A3, subs=[sub("a", installed="a.v1")]), ["a.v3"], id="resolver.md 5.5: without one, the head"),
        pytest.param(
            ask(
                catalog(package("a", [entry("a.v3", "a.v2", skip_range="< 1.0.0")])),
                subs=[sub("a", installed="a.v0")],
                csvs=[csv("a.v0", version="0.0.0")],
            ),
            ["a.v3"],
            id="resolver.md 12 row 120: a skip range reaches 0.0.0",
        ),
        pytest.param(
            ask(
                catalog(
                    package(
                        "a",
                        [
                            entry("a.v4", "a.v3", skip_range="< 1.0.0 !0.0.0"),
                            entry("a.v3", "a.v2", skip_range=">=1.0.0 <3.0.0"),
                            entry("a.v2", "a.v1", skip_range=">=1.0.0 <2.0.0"),
                            entry("a.v1"),
                        ],
                    )
                ),
                subs=[sub("a", installed="a.v1")],
                csvs=[csv("a.v1")],
            ),
            ["a.v3"],
            id="resolver.md 12 row 122: the range of an inner entry",
        ),
        pytest.param(
            ask(SKIPPING, subs=[sub("a", installed="a.v1")], csvs=[csv("a.v1")]),
            ["a.v3"],
            id="resolver.md 12 row 184: skipped entries are never taken",
        ),
        pytest.param(ask(SKIPPING, subs=[sub("a")]), ["a.v3"], id="resolver.md 12 row 155: head only"),
        pytest.param(
            ask(SKIPPING, subs=[sub("a", starting="a.v2")]),
            ["a.v2"],
            id="resolver.md 12 row 154: a skipped startingCSV",
        ),
        pytest.param(
            ask(catalog(releases("a", 3, v2=[DEPRECATED])), subs=[sub("a")]),
            ["a.v3"],
            id="resolver.md 12 row 153: a deprecated inner entry breaks nothing",
        ),
        pytest.param(
            ask(catalog(releases("a", 2, v2=[needs("K")])), subs=[sub("a")]),
            ["a.v1"],
            id="resolver.md 12 row 180: head infeasible, next older",
        ),
        pytest.param(
            ask(
                catalog(releases("a", 3, v2=[needs("K")])),
                subs=[sub("a", installed="a.v1")],
                csvs=[csv("a.v1")],
            ),
            [],
            id="resolver.md 12 row 181: no skipping ahead",
        ),
        pytest.param(
            ask(A3, subs=[sub("a"), sub("a2", package="a", starting="a.v1")]),
            ["a.v1"],
            id="resolver.md 12 row 186: two Subscriptions, one with a startingCSV",
        ),
        pytest.param(
            ask(A3, subs=[sub("a", installed="a.v1"), sub("a2", package="a")], csvs=[csv("a.v1")]),
            ["a.v2"],
            id="resolver.md 12 row 199: a second Subscription follows the update",
        ),
        pytest.param(
            ask(catalog(package("b", [entry("b.v2", "a.v1")])), subs=[sub("b", installed="a.v1")], csvs=[csv("a.v1")]),
            ["b.v2"],
            id="resolver.md 12 row 109: another package replaces what is installed",
        ),
        pytest.param(
            ask(
                catalog([*package("a", [entry("a.v1")]), channel("a", "alpha", entry("a.v2")), bundle("a", "a.v2")]),
                subs=[sub("a", channel="")],
            ),
            ["a.v1"],
            id="resolver.md 12 row 146: without a channel the default one",
        ),
        pytest.param(
            ask(
                catalog(
                    releases("a", 2, v1=[gives("K")]),
                    package("b", [entry("b.v2", "b.v1"), entry("b.v1")], v1=[needs("K")], v2=[gives("K")]),
                ),
                subs=[sub("a", installed="a.v1"), sub("b", installed="b.v1")],
                csvs=[csv("a.v1", gives("K")), csv("b.v1", needs("K"))],
            ),
            ["a.v2", "b.v2"],
            id="resolver.md 12 row 118: an API moves from one to the other",
        ),
        pytest.param(
            ask(BOTH, subs=[sub("a"), sub("z")]),
            [
                NOT + "no operators found in package z in the catalog referenced by subscription z, "
                "subscription z exists"
            ],
            id="resolver.md 12 row 189: one bad Subscription stops the namespace, and only it is named",
        ),
        pytest.param(
            ask(BOTH, subs=[sub("a"), sub("b", source="else", namespace="third")]),
            [
                NOT + "no operators found from catalog else in namespace third referenced by subscription b, "
                "subscription b exists"
            ],
            id="resolver.md 12 row 197: a catalog of a third namespace",
        ),
        pytest.param(
            ask(A3, subs=[sub("a", channel="gone", installed="a.v1")], csvs=[csv("a.v1")]),
            [
                NOT + "no operators found in channel gone of package a in the catalog referenced by subscription a, "
                "subscription a exists"
            ],
            id="resolver.md 12 row 177: the channel of an installed one is gone",
        ),
        pytest.param(
            ask(catalog(releases("a", 1, v1=[DEPRECATED])), subs=[sub("a")]),
            [
                NOT + "bundle cat/ns/stable/a.v1 is deprecated, subscription a exists, "
                "subscription a requires cat/ns/stable/a.v1"
            ],
            id="resolver.md 12 row 152: only bundle deprecated",
        ),
        pytest.param(
            ask(A3, subs=[sub("a", installed="a.v3")], csvs=[csv("a.v3", DEPRECATED)]),
            [
                NOT + "bundle @existing/ns//a.v3 is deprecated, subscription a exists, "
                "subscription a requires @existing/ns//a.v3"
            ],
            id="resolver.md 12 row 178: the installed one is deprecated and nothing replaces it",
        ),
        pytest.param(
            ask(catalog(package("a", [entry("a.v3", "a.v1"), entry("a.v2", "a.v1"), entry("a.v1")])), subs=[sub("a")]),
            [FORK],
            id="resolver.md 12 row 185: a fork",
        ),
        pytest.param(
            ask(
                catalog(releases("a", 1), healthy=False),
                BOTH | {"name": "other"},
                subs=[sub("b", source="other")],
            ),
            ["error using catalogsource ns/cat: failed to list bundles: it is not healthy"],
            id="resolver.md 2.3: one sick catalog stops the namespace",
        ),
        pytest.param(
            ask(
                A3 | {"namespace": GLOBAL},
                subs=[sub("a", namespace=GLOBAL)],
                operatorGroups=[
                    {
                        "metadata": {
                            "annotations": {"olm.operatorframework.io/exclude-global-namespace-resolution": "true"}
                        }
                    }
                ],
            ),
            [
                NOT + "no operators found from catalog cat in namespace olm referenced by subscription a, "
                "subscription a exists"
            ],
            id="resolver.md 12 row 200: global catalogs excluded",
        ),
        pytest.param(
            ask(A3, subs=[sub("a")], operatorGroups=[]),
            ["expected 1 OperatorGroup in the namespace, found 0"],
            id="resolver.md 2.1: no OperatorGroup",
        ),
        pytest.param(
            ask(catalog(releases("a", 1, channel="a/b", default="a/b")), subs=[sub("a", channel="a/b")]),
            ["error determining origin of operator: unable to parse identifier cat/ns/a/b/a.v1 for source info"],
            id="resolver.md 12 row 196: a channel with a slash",
        ),
        pytest.param(
            ask(catalog(package("a", [entry("x.v1")]), package("b", [entry("x.v1")])), subs=[sub("a")]),
            ["expected exactly one operator, got 2"],
            id="resolver.md 12 row 174: one name in two packages",
        ),
        pytest.param(
            ask(A3, subs=[sub("a", installed="a.v1")], csvs=[csv("a.v1"), csv("a.v1")]),
            ["multiple name matches for status.installedCSV of subscription ns/a: a.v1, a.v1"],
            id="resolver.md 5.1: two installed of one name",
        ),
    ],
)
def test_olm_verdicts(answer: Any, want: list[str]) -> None:
    assert chosen(answer) == want


def test_a_package_pinned_below_the_installed_one_is_not_had() -> None:
    """resolver.md 12 row 187: no downgrade of b."""
    here = catalog(releases("a", 1, v1=[needs_package("b", "<2.0.0")]), releases("b", 2))
    answer = ask(here, subs=[sub("a"), sub("b", installed="b.v2")], csvs=[csv("b.v2")])
    assert answer["error"] == (
        "constraints not satisfiable: @existing/ns//b.v2 and cat/ns/stable/b.v1 originate from package b, bundle a.v1 "
        "requires an operator with package: b and with version in range: <2.0.0, subscription a exists, subscription a "
        "requires cat/ns/stable/a.v1, subscription b exists, subscription b requires @existing/ns//b.v2"
    )
    assert [one["fact"] for one in answer["conflict"]] == answer["error"].partition(": ")[2].split(", ")
    assert answer["unsatisfiable"]


def test_apart_the_good_ones_go_on() -> None:
    """resolver.md 13 B6: a conflict stays in its component."""
    answer = ask(BOTH, subs=[sub("a"), sub("z")], whole=False)
    assert [one["name"] for one in answer["operators"]] == ["a.v1"]
    assert answer["unsatisfiable"]


def test_apart_one_name_in_two_packages_is_no_trouble() -> None:
    """resolver.md 13 B10: structured ids."""
    here = catalog(package("a", [entry("x.v1")]), package("b", [entry("x.v1")]))
    [one] = ask(here, subs=[sub("a")], whole=False)["operators"]
    assert (one["name"], one["package"]) == ("x.v1", "a")


@pytest.mark.parametrize(
    ("whole", "want"),
    [
        pytest.param(True, [HEADLESS], id="resolver.md 5.4: as OLM, which orders even the one that was asked for"),
        pytest.param(False, ["a.v1"], id="resolver.md 13 B7: apart it is had"),
    ],
)
def test_a_starting_csv_that_replaces_itself(whole: bool, want: list[str]) -> None:
    here = catalog(package("a", [entry("a.v1", "a.v1"), entry("a.v2", "a.v1")]))
    assert chosen(ask(here, subs=[sub("a", starting="a.v1")], whole=whole)) == want
