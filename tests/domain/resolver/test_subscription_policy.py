"""What Subscriptions ask for beyond OLM: versions, holds, and what becomes of dependencies."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from shared.api.views import Subscription
from shared.domain.resolver.explain.choices import choices
from shared.domain.resolver.explain.fixes import explain
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog
from shared.domain.resolver.resolve import resolve
from shared.domain.resolver.subscription_policy import NONE, SubscriptionPolicy, subscription_policy_of, unknown
from shared.domain.semver import parse_version
from tests.domain.resolver.scenery import (
    Blob,
    ask,
    bundle,
    catalog,
    channel,
    chosen,
    csv,
    entry,
    gives,
    line,
    needs,
    needs_package,
    package,
    releases,
    seen,
    sub,
)
from tests.kit.waiting import costing_at_most

A4 = releases("a", 4)
V1 = csv("a.v1")
LEAPS = package("a", [entry("a.v4", "a.v3", skips=["a.v1"]), entry("a.v3", "a.v2", skips=["a.v1"]), *line("a", 2)])
NEEDY = releases("a", 1, v1=[needs("K")])
GIVER = releases("k", 1, v1=[gives("K")])


def codes(answer: Mapping[str, Any]) -> tuple[set[str], list[str]]:
    """The codes of the facts, and what the fixes do."""
    return {one["code"] for one in answer["conflict"]}, [one["do"] for one in answer["fixes"]]


@pytest.mark.parametrize(
    ("installed", "version", "want"),
    [
        pytest.param("", "", ["a.v4"], id="no wish is OLM"),
        pytest.param("", "2.0.0", ["a.v2"], id="an exact pin"),
        pytest.param("", "a.v2", ["a.v2"], id="an exact pin by name"),
        pytest.param("", "<3.0.0", ["a.v2"], id="a ceiling"),
        pytest.param("", ">=2.0.0 <4.0.0", ["a.v3"], id="a floor and a ceiling"),
        pytest.param("a.v1", ">=1.0.0 <3.0.0", ["a.v2"], id="an update below the ceiling"),
        pytest.param("a.v1", "1.0.0", [], id="a pin on what is installed"),
        pytest.param("a.v1", "3.0.0", ["a.v2"], id="a hop on the way up to the floor"),
        pytest.param("a.v1", "1.0.0 || 4.0.0", [], id="no way out of a range, not even to the rest of it"),
    ],
)
def test_versions_have_a_floor_and_a_ceiling(installed: str, version: str, want: list[str]) -> None:
    csvs = [V1] if installed else []
    for whole in (True, False):
        subscription = sub("a", installed=installed, version=version)
        assert chosen(ask(catalog(A4), subs=[subscription], csvs=csvs, whole=whole)) == want


def test_a_leap_over_the_range_is_not_taken() -> None:
    subscription = sub("a", installed="a.v1", version=">=2.0.0 <4.0.0")
    assert chosen(ask(catalog(LEAPS), subs=[subscription], csvs=[V1])) == ["a.v3"]
    unversioned = [*LEAPS, channel("a", "other", entry("a.v9", "a.v1")), bundle("a", "a.v9", version="none")]
    assert chosen(ask(catalog(unversioned), subs=[sub("a", installed="a.v1", channel="", version="3.0.0")], csvs=[V1]))


def test_a_pin_below_what_is_installed_costs_little_in_a_long_channel() -> None:
    entries = [{**one, "skipRange": f"<{one['name'].removeprefix('a.v')}.0.0"} for one in line("a", 600)]
    subscription = sub("a", installed="a.v9", version="2.0.0")
    inputs = seen(catalog(package("a", entries)), subs=[subscription], csvs=[csv("a.v9")], whole=False)
    with costing_at_most(10, "a comparison for each pair of versions costs 0.02 s, one for each three minutes"):
        assert not resolve(inputs).chosen


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("version", "want"),
    [
        pytest.param("1.0.0", ["a.v1"], id="a pin on what is skipped"),
        pytest.param("a.v1", ["a.v1"], id="a pin by name on what is skipped"),
        pytest.param("", ["a.v4"], id="no pin"),
    ],
)
def test_a_pin_may_be_on_what_a_higher_version_skips(version: str, want: list[str], whole: bool) -> None:
    """resolver.md 12 row 156: otherwise only startingCSV gets it."""
    assert chosen(ask(catalog(LEAPS), subs=[sub("a", version=version)], whole=whole)) == want
    ranged = ask(catalog(LEAPS), subs=[sub("a", version="<2.0.0")], whole=whole)
    assert "VersionNotAccepted" in codes(ranged)[0], "a range is no pin"


def test_a_floor_that_cannot_be_reached_is_a_refusal_that_names_it() -> None:
    answer = ask(catalog(A4), subs=[sub("a", installed="a.v1", version=">=9.0.0")], csvs=[V1], whole=False)
    assert codes(answer) == (
        {"SubscriptionExists", "Candidates", "VersionNotAccepted"},
        ["kubectl -n ns annotate subscription a olmf.io/version-"],
    )
    assert "subscription a accepts only >=9.0.0 (annotation olmf.io/version)" in answer["error"]


def test_what_never_moves_says_which_wish_keeps_it() -> None:
    def reason(**wishes: str) -> str:
        inputs = seen(catalog(A4), subs=[sub("a", installed="a.v1", **wishes)], csvs=[V1], whole=False)
        return resolve(inputs).reasons["a"]

    assert reason(version="<2.0.0") == (
        "a.v1 is installed, and nothing in its channel that version <2.0.0 accepts replaces it"
    )
    assert reason(hold="audit") == reason(hold_installed="audit") == "a.v1 is held: audit"


@pytest.mark.parametrize("whole", [True, False])
def test_a_hold_keeps_what_is_installed_and_nothing_else(whole: bool) -> None:
    both = catalog(A4, releases("b", 2))
    subs = [sub("a", installed="a.v1", hold="audit"), sub("b", installed="b.v1")]
    assert chosen(ask(both, subs=subs, csvs=[V1, csv("b.v1")], whole=whole)) == ["b.v2"]


@pytest.mark.parametrize("whole", [True, False])
def test_a_hold_keeps_out_what_is_not_installed_unless_it_waits_for_that(whole: bool) -> None:
    both = catalog(A4, releases("b", 1))
    inputs = seen(both, subs=[sub("a", hold="audit"), sub("b")], whole=whole)
    found = resolve(inputs)
    assert [one.bundle.name for one in found.chosen] == ["b.v1"]
    assert found.reasons["a"] == "nothing yet is held: audit"
    assert [one.subscriber for one in choices(inputs, found)] == ["a", "b"]
    assert chosen(ask(both, subs=[sub("a", hold_installed="audit", version="2.0.0")], whole=whole)) == ["a.v2"]


@pytest.mark.parametrize("whole", [True, False])
def test_what_is_kept_out_does_not_come_for_others_either(whole: bool) -> None:
    b = releases("b", 1, v1=[needs_package("a", ">=1.0.0")])
    answer = ask(catalog(A4, b), subs=[sub("a", hold="audit"), sub("b")], whole=whole)
    assert "Held" in codes(answer)[0]
    assert codes(answer)[1][0] == "kubectl -n ns annotate subscription a olmf.io/hold-"
    assert "subscription a gets nothing, because it is held: audit (annotation olmf.io/hold)" in answer["error"]


def test_a_held_subscription_takes_nothing_over() -> None:
    answer = ask(catalog(A4), subs=[sub("a", hold="audit")], csvs=[V1], whole=False)
    assert (answer["operators"], answer["error"]) == ([], None)


def test_explain_names_the_hold_for_every_newer_version() -> None:
    inputs = seen(catalog(A4), subs=[sub("a", installed="a.v1", hold="audit")], csvs=[V1], whole=False)
    [choice] = choices(inputs, resolve(inputs))
    assert [(one.name, one.code) for one in choice.newer][-1] == ("a.v2", "Held")
    assert choice.newer[-1].sentence == (
        "Subscription a keeps a.v1, because it is held: audit (annotation olmf.io/hold)"
    )


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("subscription", "want"),
    [
        pytest.param("", ["a.v1", "k.v1"], id="no wish is OLM"),
        pytest.param("install", ["a.v1", "k.v1"], id="install is OLM"),
        pytest.param("ignore", ["a.v1"], id="ignore installs nothing else"),
    ],
)
def test_dependencies_are_installed_or_ignored(subscription: str, want: list[str], whole: bool) -> None:
    assert chosen(ask(catalog(NEEDY, GIVER), subs=[sub("a", dependencies=subscription)], whole=whole)) == want


def test_what_is_ignored_stays_ignored_once_it_is_installed() -> None:
    mine = csv("a.v1", needs("K"))
    subscription = sub("a", installed="a.v1", dependencies="ignore")
    assert chosen(ask(catalog(NEEDY), subs=[subscription], csvs=[mine], whole=False)) == []
    found = resolve(seen(catalog(NEEDY), subs=[sub("a", dependencies="ignore")], whole=False))
    assert found.reasons["a"] == "a.v1 from channel stable of catalog ns/cat; what it needs is ignored"
    assert ask(catalog(NEEDY), subs=[sub("a", installed="a.v1")], csvs=[mine], whole=False)["unsatisfiable"]


@pytest.mark.parametrize(
    ("others", "csvs", "want"),
    [
        pytest.param([], [csv("k.v1", gives("K"))], ["a.v1"], id="it is installed"),
        pytest.param([sub("k")], [], ["a.v1", "k.v1"], id="it is subscribed to"),
        pytest.param([sub("b")], [], ["a.v1", "b.v1", "k.v1"], id="it comes with another one"),
    ],
)
def test_dependencies_that_are_required_may_be_there_for_any_reason(
    others: list[Blob], csvs: list[Blob], want: list[str]
) -> None:
    b = releases("b", 1, v1=[needs("K")])
    for whole in (True, False):
        subs = [sub("a", dependencies="require"), *others, *(sub("k", installed="k.v1") for _ in csvs)]
        assert chosen(ask(catalog(NEEDY, GIVER, b), subs=subs, csvs=csvs, whole=whole)) == want


def test_dependencies_that_are_required_and_absent_are_a_refusal_that_names_the_wish() -> None:
    deep = releases("k", 1, v1=[gives("K"), needs_package("m", "1.0.0")])
    answer = ask(catalog(NEEDY, deep, releases("m", 1)), subs=[sub("a", dependencies="require")], whole=False)
    facts, fixes = codes(answer)
    assert "DependenciesRequired" in facts
    assert fixes[0] == "kubectl -n ns annotate subscription a olmf.io/dependencies-"


def test_of_two_wishes_the_one_to_blame_is_offered_to_be_removed() -> None:
    answer = ask(catalog(NEEDY, GIVER), subs=[sub("a", version="1.0.0", dependencies="require")], whole=False)
    assert [one for one in codes(answer)[1] if "annotate" in one] == [
        "kubectl -n ns annotate subscription a olmf.io/dependencies-"
    ]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("subscription", [{"version": "~> 2"}, {"dependencies": "maybe"}])
def test_what_cannot_be_understood_is_refused_not_passed_over(subscription: dict[str, str], whole: bool) -> None:
    answer = ask(catalog(A4), subs=[sub("a", **subscription)], whole=whole)
    assert answer["error"].startswith(f"annotation olmf.io/{next(iter(subscription))}: ")
    assert answer["fixes"][0]["code"] == "RemoveAnnotation"


@pytest.mark.parametrize(
    ("desired", "version", "want"),
    [
        pytest.param("1.0.0", "1.0.0+5", True, id="build metadata does not count"),
        pytest.param("1.0.0+5", "1.0.0+5", True, id="unless the pin has some"),
        pytest.param("1.0.0+5", "1.0.0+6", False, id="then it must be that"),
        pytest.param(">=1.0.0", "1.0.0-rc1", False, id="a prerelease is below its release"),
        pytest.param("a.v2", "1.0.0", False, id="another name"),
    ],
)
def test_which_versions_are_accepted(desired: str, version: str, want: bool) -> None:
    assert SubscriptionPolicy(desired).accepts("a.v1", parse_version(version)) is want
    assert (
        SubscriptionPolicy("1.0.0").accepts("a.v1", None)
        is SubscriptionPolicy("1.0.0+5").accepts("a.v1", None)
        is False
    )


def test_an_empty_annotation_is_none() -> None:
    assert subscription_policy_of(Subscription(sub("a", version=" ", dependencies=""))) == NONE
    assert subscription_policy_of(Subscription(sub("a", version=" 1.0.0 "))) == SubscriptionPolicy("1.0.0")


def test_ignoring_needs_of_a_channel_without_order_changes_no_verdict() -> None:
    """resolver.md 12 row 131: two heads."""
    fork = package("f", [entry("f.v3", "f.v1"), entry("f.v2", "f.v1"), entry("f.v1")])
    for whole in (True, False):
        plain = ask(catalog(fork), subs=[sub("f")], whole=whole)
        assert ask(catalog(fork), subs=[sub("f", dependencies="ignore")], whole=whole)["error"] == plain["error"]


@pytest.mark.parametrize("whole", [True, False])
def test_the_order_of_the_input_does_not_matter(whole: bool) -> None:
    """resolver.md 14.7: the same bytes, facts and fixes included."""
    packages = [NEEDY, GIVER, releases("m", 3), releases("n", 2, v2=[needs_package("m", ">2.0.0")])]
    subs = [
        sub("a", dependencies="require"), sub("m", installed="m.v1", version="<3.0.0"), sub("n", dependencies="ignore"),
        sub("o", package="n", hold="audit"), sub("p", package="m", version="9.0.0"),
    ]  # fmt: skip
    csvs = [csv("m.v1"), csv("x.v1", needs("K"))]
    want = json.dumps(ask(catalog(*packages), subs=subs, csvs=csvs, whole=whole))
    rng = random.Random(9)
    for _ in range(25):
        for listed in (packages, subs, csvs):
            rng.shuffle(listed)
        assert json.dumps(ask(catalog(*packages), subs=subs, csvs=csvs, whole=whole)) == want


def strict(policy: str = "strict") -> list[Blob]:
    return [{"metadata": {"name": "og", "annotations": {"olmf.io/catalog-policy": policy}}}]


@pytest.mark.parametrize("whole", [True, False])
def test_a_strict_group_stops_for_any_catalog_that_cannot_be_read(whole: bool) -> None:
    """resolver.md 12 row 206."""
    both = (catalog(A4), catalog(name="sick", healthy=False))
    answer = ask(*both, subs=[sub("a")], whole=whole, operatorGroups=strict())
    assert answer["error"] == "error using catalogsource ns/sick: failed to list bundles: it is not healthy"
    answer = ask(*both, subs=[sub("a")], whole=whole, operatorGroups=strict("loose"))
    assert answer["error"] == "annotation olmf.io/catalog-policy: 'loose': wanted available or strict"


@pytest.mark.parametrize("whole", [True, False])
def test_a_strict_namespace_waits_for_every_catalog_and_trusts_no_old_one(whole: bool) -> None:
    inputs = seen(catalog(A4), subs=[sub("a")], whole=whole, operatorGroups=strict())
    [(key, found)] = inputs.catalogs.items()
    new = CatalogKey("ns", "new")
    waiting = replace(inputs, catalogs={key: found, new: Catalog(new)})
    assert resolve(waiting).reasons == {"a": "catalog ns/new has not been read yet"}
    stale = replace(inputs, catalogs={key: replace(found, is_stale=True, problem="no route")})
    assert resolve(stale).reasons == {"a": "error using catalogsource ns/cat: no route"}
    assert [one.code for one in explain(stale)[0].fixes][:1] == ["RelaxCatalogs"]
    assert resolve(replace(stale, is_strict=False)).reasons == {
        "a": "a.v4 from channel stable of catalog ns/cat; catalog ns/cat cannot be read now, its last content counts"
    }


@pytest.mark.parametrize(
    ("annotation", "want"),
    [
        pytest.param("olmf.io/versoin", " (known is olmf.io/version)", id="a misspelled one"),
        pytest.param("olmf.io/something", "", id="one that is like none of ours"),
        pytest.param("olmf.io/catalog-policy", "", id="one for OperatorGroups"),
    ],
)
def test_an_annotation_of_ours_that_is_not_known_is_reported_and_refuses_nothing(annotation: str, want: str) -> None:
    sentence = f"annotation {annotation} is not known on a Subscription and has no effect{want}"
    desired = sub("a", **{annotation.removeprefix("olmf.io/"): "1.0.0"})
    assert unknown(Subscription(desired)) == sentence
    answer = resolve(seen(catalog(A4), subs=[desired], whole=False))
    assert answer.reasons["a"] == f"a.v4 from channel stable of catalog ns/cat; {sentence}"


def test_known_annotations_and_those_of_others_are_not_reported() -> None:
    desired = sub("a", version="1.0.0", hold_installed="audit")
    desired["metadata"]["annotations"]["example.com/olmf.io"] = "x"
    assert unknown(Subscription(desired)) == ""
