"""More rows of the situations of OLM's own tests and probes, one line each (resolver.md §12.7–§12.10)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.domain.resolver.scenery import (
    DEPRECATED,
    GLOBAL,
    a,
    ask,
    b,
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
)


def has(name: str, *, by: str = "", version: int = 1) -> dict[str, Any]:
    return sub(by or name, package=name, installed=f"{name}.v{version}")


K, L, M = gives("K"), gives("L"), gives("M")
TWO = [*a(), channel("a", "beta", entry("a.v1"))]
HOLDS = csv("a.v1")


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        pytest.param(ask(catalog(a()), subs=[sub("a", channel="")]), ["a.v1"], id="resolver.md 12 row 93"),
        pytest.param(ask(catalog(a()), subs=[sub("a")]), ["a.v1"], id="resolver.md 12 row 98"),
        pytest.param(
            ask(catalog(a()), subs=[sub("a"), sub("a-too", package="a")]), ["a.v1"], id="resolver.md 12 row 106"
        ),
        pytest.param(ask(catalog(a()), csvs=[csv("x.v1")]), [], id="resolver.md 12 row 107"),
        pytest.param(
            ask(catalog(a(2, v2=[needs("K")]), b(v1=[K])), subs=[has("a")], csvs=[HOLDS]),
            ["a.v2", "b.v1"],
            id="resolver.md 12 row 112",
        ),
        pytest.param(
            ask(catalog(a(2), b()), subs=[has("a"), sub("b")], csvs=[HOLDS]),
            ["a.v2", "b.v1"],
            id="resolver.md 12 row 114",
        ),
        pytest.param(ask(catalog(a(), b()), subs=[has("a"), sub("b")]), ["a.v1", "b.v1"], id="resolver.md 12 row 115"),
        pytest.param(
            ask(
                catalog(
                    a(2, v1=[K, needs("L")], v2=[M, needs("N")]), b(2, v1=[L, needs("K")], v2=[gives("N"), needs("M")])
                ),
                subs=[has("a"), has("b")],
                csvs=[csv("a.v1", K, needs("L")), csv("b.v1", L, needs("K"))],
            ),
            ["a.v2", "b.v2"],
            id="resolver.md 12 row 117",
        ),
        pytest.param(
            ask(catalog(releases("a", 2, v1=[K]), b(v1=[needs("K")])), subs=[sub("b")]),
            ["a.v1", "b.v1"],
            id="resolver.md 12 row 119",
        ),
        pytest.param(
            ask(
                catalog(a(2, v1=[needs("K")], v2=[needs("K")]), b(2, v1=[K], v2=[K])),
                subs=[has("a"), has("b")],
                csvs=[csv("a.v1", needs("K")), csv("b.v1", K)],
            ),
            ["a.v2", "b.v2"],
            id="resolver.md 12 row 121",
        ),
        pytest.param(
            ask(
                catalog(package("a", [entry("a.v3", "a.v2", skips=["a.v1"]), entry("a.v2", "a.v0", skips=["a.v1"])])),
                subs=[has("a")],
                csvs=[HOLDS],
            ),
            ["a.v3"],
            id="resolver.md 12 row 124",
        ),
        pytest.param(
            ask(catalog(a(), b()), subs=[has("a"), sub("b")], csvs=[HOLDS]), ["b.v1"], id="resolver.md 12 row 129"
        ),
        pytest.param(ask(catalog(TWO), subs=[sub("a", channel="beta")]), ["a.v1"], id="resolver.md 12 row 132"),
        pytest.param(
            ask(
                catalog(a(v1=[needs("K"), needs("L")]), b(2, v2=[K], v1=[K])),
                catalog(releases("z", 1, v1=[L]), releases("k", 1, v1=[K]), name="other"),
                subs=[sub("a")],
            ),
            ["a.v1", "b.v2", "z.v1"],
            id="resolver.md 12 row 138",
        ),
        pytest.param(
            ask(
                catalog(a(2, v1=[K], v2=[needs("K")]), b(v1=[needs("K")])),
                subs=[has("a"), has("b")],
                csvs=[csv("a.v1", K), csv("b.v1", needs("K"))],
            ),
            [],
            id="resolver.md 12 row 151",
        ),
        pytest.param(
            ask(catalog(b(2)), subs=[has("b")], csvs=[csv("a.v1", needs_package("b", "1.0.0")), csv("b.v1")]),
            [],
            id="resolver.md 12 row 157",
        ),
        pytest.param(
            ask(
                catalog(a(2, v2=[K]), b(2, v2=[K])), subs=[has("a"), has("b")], csvs=[csv("a.v1"), csv("b.v1")]
            ),
            ["a.v2"],
            id="resolver.md 12 row 166",
        ),
        pytest.param(
            ask(catalog(b(2, v2=[K], v1=[K])), subs=[has("b")], csvs=[csv("x.v1", needs("K")), csv("b.v1", K)]),
            ["b.v2"],
            id="resolver.md 12 row 167",
        ),
        pytest.param(
            ask(catalog(b(2, v1=[K])), subs=[has("b")], csvs=[csv("x.v1", needs("K")), csv("b.v1", K)]),
            [],
            id="resolver.md 12 row 168",
        ),
        pytest.param(
            ask(
                catalog(package("a", [
                    entry("a.v4", "a.v3"), entry("a.v3", "a.v2", skip_range=">=1.0.0 <3.0.0"), entry("a.v2", "a.v1"),
                    entry("a.v1"),
                ], v3=[DEPRECATED])),
                subs=[has("a")],
                csvs=[HOLDS],
            ),
            ["a.v2"],
            id="resolver.md 12 row 182",
        ),
        pytest.param(
            ask(
                catalog(package("a", [entry("a.v3", "a.v2", skips=["a.v1"]), entry("a.v2", "a.v1"), entry("a.v1")])),
                subs=[has("a")],
                csvs=[HOLDS],
            ),
            ["a.v3"],
            id="resolver.md 12 row 183",
        ),
        pytest.param(
            ask(catalog(a(2, v2=[needs_package("b", ">=2.0.0")]), b()), subs=[has("a")], csvs=[HOLDS]),
            [],
            id="resolver.md 12 row 188",
        ),
        pytest.param(
            ask(catalog(a(v1=[needs("K")]), b(v1=[K])), subs=[sub("a")], csvs=[csv("x.v1", K)]),
            ["a.v1"],
            id="resolver.md 12 row 191",
        ),
    ],
)  # fmt: skip
def test_a_situation_has_its_outcome(answer: dict[str, Any], want: list[str]) -> None:
    assert chosen(answer) == want


def test_without_a_channel_the_default_one_is_reported() -> None:
    """resolver.md 12 row 165: OLM tells one or the other."""
    here = [*a(), channel("a", "alpha", entry("a.v1")), bundle("a", "a.v0")]
    [one] = ask(catalog(here), subs=[sub("a", channel="")])["operators"]
    assert one["channel"] == "stable"


def test_a_wrong_range_anywhere_ends_olms_resolution() -> None:
    """resolver.md 12 row 194: even of an older fallback; only its own bundle suffers in component mode."""
    here = catalog(a(2, v1=[needs_package("b", "*")]))
    assert ask(here, subs=[sub("a")])["error"] == "Last element in range is '||'"
    assert chosen(ask(here, subs=[sub("a")], whole=False)) == ["a.v2"]


def test_a_mid_upgrade_window_is_a_conflict_for_olm_only() -> None:
    """resolver.md 12 row 171 and 13 B11."""
    both: dict[str, Any] = {"subs": [sub("a", installed="a.v2")], "csvs": [csv("a.v1"), csv("a.v2", replaces="a.v1")]}
    assert "clusterserviceversion a.v1 exists" in ask(catalog(a(2)), **both)["error"]
    assert chosen(ask(catalog(a(2)), **both, whole=False)) == []


def _order_free() -> tuple[list[dict[str, Any]], dict[str, Any]]:
    catalogs = [
        catalog(a(3, v3=[needs("K")]), b(2, v2=[needs("L")]), releases("k", 2, v1=[K], v2=[K])),
        catalog(releases("z", 2, v2=[L], v1=[L, K]), name="two", namespace=GLOBAL, priority=5),
        catalog(releases("l", 1, v1=[L]), name="three"),
    ]
    subs = [has("a", version=2), sub("b"), sub("k"), sub("nothing"), sub("z", source="two", namespace=GLOBAL)]
    csvs = [csv("a.v2"), csv("x.v1", needs("L")), csv("y.v1")]
    return catalogs, {"subs": subs, "csvs": csvs}


@pytest.mark.parametrize("whole", [True, False])
def test_the_order_of_the_input_does_not_matter(whole: bool) -> None:
    """resolver.md 14.7: the same bytes, facts and fixes included."""
    catalogs, rest = _order_free()
    want = ask(*catalogs, **rest, whole=whole)
    rng = random.Random(5)
    for _ in range(25):
        for listed in (catalogs, rest["subs"], rest["csvs"], *(one["fbc"] for one in catalogs)):
            rng.shuffle(listed)
        assert ask(*catalogs, **rest, whole=whole) == want
