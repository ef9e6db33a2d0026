"""Which entries a Subscription may move to, and in which order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.domain.catalog.model import Bundle, Channel, Entry, Package
from shared.domain.resolver.candidate_cache import CandidateCache, Source
from shared.domain.resolver.candidates import AmbiguousInstallation, candidates
from shared.domain.resolver.catalog_readers import LoadedCatalog
from shared.domain.resolver.channels import ChannelError, in_order
from shared.domain.resolver.identity import CatalogKey, Installed
from shared.domain.resolver.model import Subscriber
from shared.domain.resolver.operators import Operator, of_installed, of_package
from tests.domain.resolver.scenery import (
    GLOBAL,
    ask,
    catalog,
    chosen,
    csv,
    entry,
    package,
    releases,
    sub,
)
from tests.kit.waiting import costing_at_most

KEY = CatalogKey("olm", "local")


def an_entry(name: str, replaces: str = "", skips: tuple[str, ...] = (), skip_range: str = "") -> Entry:
    return Entry(name, replaces, skips, skip_range)


def a_package(*channels: Channel, default: str = "stable") -> Package:
    names = {entry.name for channel in channels for entry in channel.entries}
    bundles = {name: Bundle(name, name.removeprefix("v") + ".0.0", f"registry/{name}") for name in names}
    return Package("etcd", default, channels, bundles)


def a_subscriber(channel: str = "stable", starting_csv: str = "") -> Subscriber:
    return Subscriber("sub", "etcd", channel, KEY, starting_csv)


V3, V2, V1 = an_entry("v3", "v2"), an_entry("v2", "v1"), an_entry("v1")
LINE = Channel("stable", (V1, V2, V3))


def found(subscriber: Subscriber, package: Package, installed: str = "") -> list[str] | str:
    present = [of_installed(Installed(installed, installed.removeprefix("v") + ".0.0"), "ns")] if installed else []
    cache = CandidateCache("ns", [Source(KEY, LoadedCatalog({package.name: package}))], present, is_whole=True)
    answer = candidates(replace(subscriber, installed_csv=installed), cache)
    return answer.refusal.text if answer.refusal else [one.name for one in answer.operators]


def operators(*entries: Entry) -> tuple[Operator, ...]:
    bundles = {entry.name: Bundle(entry.name, "1.0.0", "") for entry in entries}
    return of_package(Package("p", "c", (Channel("c", entries),), bundles), KEY)["c"]


@pytest.mark.parametrize(
    ("subscriber", "channels", "installed", "want"),
    [
        pytest.param(a_subscriber(), [LINE], "", ["v3", "v2", "v1"], id="resolver.md 5.5: a fresh install, head first"),
        pytest.param(a_subscriber(), [LINE], "v1", ["v2"], id="catalog.md 8.7.80: one hop along replaces"),
        pytest.param(a_subscriber(), [LINE], "v3", [], id="the head is installed"),
        pytest.param(a_subscriber(starting_csv="v1"), [LINE], "", ["v1"], id="only the starting CSV"),
        pytest.param(a_subscriber(starting_csv="v1"), [LINE], "v2", ["v3"], id="an installed version beats it"),
        pytest.param(
            a_subscriber(),
            [Channel("stable", (an_entry("v3", "v2", skip_range=">=1.0.0 <3.0.0"), V2, V1))],
            "v1",
            ["v3", "v2"],
            id="catalog.md 8.7.80: a skip range jumps; the entry nearest the head comes first",
        ),
        pytest.param(
            a_subscriber(),
            [Channel("stable", (an_entry("v3", "v1", skips=("v2",)), V2, V1))],
            "v2",
            ["v3"],
            id="a skipped version is left behind for the one that skips it",
        ),
        pytest.param(
            a_subscriber(starting_csv="v2"),
            [Channel("stable", (an_entry("v3", "v1", skips=("v2",)), V2, V1))],
            "",
            ["v2"],
            id="resolver.md 5.5: a starting CSV may be a skipped one",
        ),
        pytest.param(
            a_subscriber("beta"),
            [Channel("stable", (V1,)), Channel("beta", (an_entry("v9", "v1"),))],
            "v1",
            ["v9"],
            id="a change of channel goes on from what is installed",
        ),
        pytest.param(
            a_subscriber(""),
            [Channel("alpha", (an_entry("v9"),)), Channel("stable", (V1,))],
            "",
            ["v1", "v9"],
            id="resolver.md 5.3: without a channel the default one comes first",
        ),
        pytest.param(
            a_subscriber(),
            [Channel("stable", (an_entry("v2", "v0", skip_range="nonsense"),))],
            "v1",
            [],
            id="resolver.md 2.4: a skip range that cannot be read counts as none",
        ),
    ],
)
def test_candidates(subscriber: Subscriber, channels: list[Channel], installed: str, want: list[str]) -> None:
    assert found(subscriber, a_package(*channels), installed) == want


@pytest.mark.parametrize(
    ("subscriber", "package", "want"),
    [
        pytest.param(
            a_subscriber(),
            replace(a_package(LINE), name="other"),
            "no operators found in package etcd in the catalog referenced by subscription sub",
            id="resolver.md 5.2 stage 2: no such package",
        ),
        pytest.param(
            a_subscriber("beta"),
            a_package(LINE),
            "no operators found in channel beta of package etcd in the catalog referenced by subscription sub",
            id="resolver.md 5.2 stage 3: no such channel",
        ),
        pytest.param(
            a_subscriber(starting_csv="v7"),
            a_package(LINE),
            "no operators found with name v7 in channel stable of package etcd in the catalog referenced by "
            "subscription sub",
            id="resolver.md 5.2 stage 4: no such starting CSV",
        ),
    ],
)
def test_a_wish_that_leaves_nothing_is_named(subscriber: Subscriber, package: Package, want: str) -> None:
    assert found(subscriber, package) == want


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        pytest.param(
            (an_entry("v1", "v2"), an_entry("v2", "v1")),
            'no channel heads (entries not replaced by another entry) found in channel "c" of package "p"',
            id="resolver.md 5.4: a ring has no head",
        ),
        pytest.param(
            (an_entry("v4", "v3"), an_entry("v3", "v2"), an_entry("v2", "v3")),
            'a cycle exists in the chain of replacement beginning with "v4" in channel "c" of package "p"',
            id="resolver.md 5.4: a ring behind the head",
        ),
        pytest.param(
            (an_entry("v3", "v1"), an_entry("v2", "v1"), an_entry("v1")),
            "a unique replacement chain within a channel is required to determine the relative order between channel "
            'entries, but 2 replacement chains were found in channel "c" of package "p": v2...v1, v3...v1',
            id="resolver.md 5.4: a fork has two heads",
        ),
    ],
)
def test_a_channel_without_one_order_is_refused(entries: tuple[Entry, ...], message: str) -> None:
    with pytest.raises(ChannelError) as error:
        in_order(operators(*entries))
    assert str(error.value) == message


def test_a_chain_of_one_is_shown_by_its_name() -> None:
    """resolver.md 5.4: `name`, or `first...last`."""
    entries = (an_entry("v5", skips=("v4",)), an_entry("v4"), an_entry("v3", "v2"), an_entry("v2"))
    with pytest.raises(ChannelError, match=r"v3\.\.\.v2, v5$"):
        in_order(operators(*entries))


def test_an_entry_that_is_only_skipped_vanishes() -> None:
    entries = (an_entry("v3", skips=("v2",)), an_entry("v2", "v1"), an_entry("v1"))
    assert [entry.name for entry in in_order(operators(*entries))] == ["v3"]


def test_two_versions_of_the_installed_name_are_ambiguous() -> None:
    """resolver.md 5.1: two matches."""
    present = [of_installed(Installed("v1", "1.0.0"), "ns") for _ in range(2)]
    with pytest.raises(AmbiguousInstallation, match="of subscription ns/sub: v1, v1"):
        candidates(replace(a_subscriber(), installed_csv="v1"), CandidateCache("ns", [], present, is_whole=True))


def test_an_empty_channel_has_an_empty_order() -> None:
    """resolver.md 5.4 5: empty input, empty output."""
    assert in_order(()) == ()


def test_a_subscription_without_a_catalog_means_all_of_them_in_olm() -> None:
    """resolver.md 5.2, probe F29."""
    anywhere = sub("a", source="", namespace="", installed="a.v1")
    here = catalog(package("b", [entry("b.v1")]), releases("a", 1))
    there = catalog(package("a", [entry("a.v2", "a.v1")], channel="beta"), name="other", namespace=GLOBAL)
    anywhere["spec"]["channel"] = ""
    assert chosen(ask(here, there, subs=[anywhere], csvs=[csv("a.v1")])) == ["a.v2"]
    nowhere = "no operators found from catalog  in namespace  referenced by subscription a, subscription a exists"
    refused = ask(here, there, subs=[anywhere], csvs=[csv("a.v1")], whole=False)
    assert chosen(refused) == [f"constraints not satisfiable: {nowhere}"]


def test_one_channel_of_two_catalogs_has_no_order() -> None:
    """resolver.md 5.4, probe F29."""
    anywhere = sub("a", source="", namespace="", starting="a.v1")
    both = [catalog(releases("a", 2), name=name) for name in ("cat", "other")]
    [sentence] = chosen(ask(*both, subs=[anywhere]))
    assert sentence.endswith('were found in channel "stable" of package "a": a.v1, a.v1')
    del anywhere["spec"]["startingCSV"]
    [sentence] = chosen(ask(*both, subs=[anywhere]))
    chains = "a.v1, a.v2...a.v1, a.v2...a.v1"
    assert sentence.endswith(f'3 replacement chains were found in channel "stable" of package "a": {chains}')


def test_a_chain_of_nothing_but_a_skipped_namesake_is_empty() -> None:
    """resolver.md 5.4."""
    twins = operators(an_entry("v2", skips=("v1",)), an_entry("v1")), operators(an_entry("v1"))
    with pytest.raises(ChannelError, match=r": \[\], v2$"):
        in_order([*(one for one in twins[0]), *twins[1]])


def test_many_heads_of_one_chain_are_refused_at_once() -> None:
    """Whoever writes a catalog says how many heads a channel has, and how long their chain is."""
    many = 4000
    chain = [entry(f"a.v{number}", f"a.v{number - 1}" if number else "") for number in range(many)]
    heads = [entry(f"a.h{number}", f"a.v{many - 1}") for number in range(many)]
    with costing_at_most(20, "to follow the chain from each head takes minutes"):
        [sentence] = chosen(ask(catalog(package("a", [*chain, *heads])), subs=[sub("a")]))
    assert f"{many} replacement chains were found" in sentence
    assert "a.h0...a.v0, a.h1...a.v0" in sentence
