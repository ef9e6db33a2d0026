"""After a change only its neighbourhoods are decided again: with the same verdicts, and at the cost of the conflict."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from shared.domain.catalog.model import Package
from shared.domain.resolver.explain.fixes import explain, findings
from shared.domain.resolver.explain.neighbourhoods import Neighbourhoods
from shared.domain.resolver.facts import Gvk
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import CatalogReader, Inputs, Resolution
from shared.domain.resolver.operators import Operator
from shared.domain.resolver.request import ResolutionRequest
from shared.domain.resolver.resolve import resolution_of, resolve
from shared.domain.resolver.subscription_policy import NONE
from tests.domain.resolver.scenery import (
    Blob,
    bundle,
    catalog,
    channel,
    csv,
    entry,
    gives,
    line,
    needs,
    needs_package,
    package,
    prop,
    releases,
    seen,
    sub,
)

PACKAGES, APIS, HIGHEST = "abcdefghij", "KLMN", 3


def wishes(rng: random.Random) -> Iterator[Blob]:
    yield from (needs(api) for api in APIS if rng.random() < 0.06)
    if rng.random() < 0.12:
        yield needs_package(rng.choice(PACKAGES), f">={rng.randint(1, 4)}.0.0")


def a_catalog(rng: random.Random, **fields: Any) -> Blob:
    """Packages that state and require APIs and packages; a second channel has the oldest version only."""
    found = []
    for name in PACKAGES:
        own = [gives(api) for api in APIS if rng.random() < 0.12]
        declared: dict[str, Any] = {f"v{version}": [*own, *wishes(rng)] for version in range(1, HIGHEST + 1)}
        found += [*package(name, line(name, HIGHEST), **declared), channel(name, "old", entry(f"{name}.v1"))]
    return catalog(found, **fields)


def a_namespace(rng: random.Random) -> Inputs:
    """Subscriptions of which some cannot be satisfied, with versions that are installed or that nobody claims."""
    subs, csvs = [], []
    for name in rng.sample(PACKAGES, rng.randint(3, len(PACKAGES))):
        at = f"{name}.v{rng.randint(1, HIGHEST)}" if rng.random() < 0.35 else ""
        owned = rng.random() < 0.7
        csvs += [csv(at, *([gives(rng.choice(APIS))] if rng.random() < 0.2 else []))] if at else []
        asked = {"version": rng.choice(["1.0.0", ">=2.0.0", "9.0.0"])} if rng.random() < 0.15 else {}
        asked |= {"dependencies": rng.choice(["require", "ignore"])} if rng.random() < 0.1 else {}
        where = rng.choice(["stable", "stable", "old", "missing"])
        subs.append(sub(name, channel=where, installed=at if owned else "", **asked))
    healthy = rng.random() < 0.8
    other = a_catalog(rng, name="other", priority=rng.choice([0, 1]), healthy=healthy)
    return seen(a_catalog(rng), *([other] if rng.random() < 0.3 else []), subs=subs, csvs=csvs, whole=False)


def changes(inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """The inputs after no change, and after a change of each Subscription and each installed version, with a name."""
    yield "the same", inputs
    for one in inputs.subscribers:
        rest = tuple(each for each in inputs.subscribers if each is not one)
        freed = tuple(replace(each, owner="") if each.owner == one.name else each for each in inputs.installed)
        yield f"without {one.name}", replace(inputs, subscribers=rest, installed=freed)
        others = [replace(one, channel=where) for where in ("stable", "old", "")]
        others += [replace(one, policy=NONE), replace(one, catalog=CatalogKey("ns", "other"))]
        for other in others:
            if other != one:
                yield f"{other} instead of {one}", replace(inputs, subscribers=(*rest, other))
    for csv_ in inputs.installed:
        kept = tuple(each for each in inputs.installed if each is not csv_)
        yield f"without {csv_.name}", replace(inputs, installed=kept)
        yield f"{csv_.name} claimed", replace(inputs, installed=(*kept, replace(csv_, owner="somebody")))
    for key in inputs.catalogs.keys() - inputs.readers.keys():
        rest_of = {at: one for at, one in inputs.catalogs.items() if at != key}
        yield f"without {key}", replace(inputs, catalogs=rest_of)


def solutions(resolution: Resolution) -> dict[str, object]:
    """Subscription to its component; of a refused one only who is refused with it, and the kind of the refusal."""
    return {
        name: (one.subscribers, one.refusal.reason) if one.refusal else one
        for one in resolution.components
        for name in one.subscribers
    }


@pytest.mark.unmeasured
@pytest.mark.parametrize("half", range(2))  # the longest test of the domain: two cores share it
def test_a_change_is_seen_only_in_its_neighbourhoods(half: int) -> None:
    """40 namespaces with 35 changes each: of the rules left out one at a time they miss those that 120 miss."""
    near, far = 0, 0
    for inputs in [a_namespace(random.Random(seed)) for seed in range(half, 40, 2)]:
        base = ResolutionRequest(inputs)
        before = solutions(resolution_of(base))
        neighbourhoods = Neighbourhoods(base)
        for what, changed in changes(inputs):
            after = solutions(neighbourhoods.after(changed, ()))
            kept = {one.name: before[one.name] for one in changed.subscribers if one.name not in after}
            assert {**kept, **after} == solutions(resolve(changed)), what
            near, far = near + len(after), far + len(kept)
    assert (near > 250, far > near) == (True, True), "most is left out"


@dataclass
class Counted:
    """A catalog that counts how often it is asked for the operators of a package."""

    reader: CatalogReader
    asked: list[str] = field(default_factory=list)

    def operators(self, name: str, catalog: CatalogKey) -> Mapping[str, tuple[Operator, ...]]:
        self.asked.append(name)
        return self.reader.operators(name, catalog)

    def package(self, name: str) -> Package | None:
        return self.reader.package(name)

    def names(self) -> Iterable[str]:
        return self.reader.names()

    def is_empty(self) -> bool:
        return self.reader.is_empty()

    def providers(self, api: Gvk) -> Iterable[str]:
        return self.reader.providers(api)

    def holders(self, bundle: str) -> Iterable[str]:
        return self.reader.holders(bundle)

    def problem(self, name: str) -> str:
        return self.reader.problem(name)


def a_conflict(bystanders: int) -> tuple[Counted, Inputs]:
    """Packages a and b provide the same API, and so do their older versions; the others need nothing."""
    others = [package(f"p{number}", line(f"p{number}", 5)) for number in range(bystanders)]
    pair = [package(name, line(name, 2), v1=[gives("K")], v2=[gives("K")]) for name in "ab"]
    names = ["a", "b", *(f"p{number}" for number in range(bystanders))]
    inputs = seen(catalog(*pair, *others), subs=map(sub, names), whole=False)
    [(key, reader)] = inputs.readers.items()
    counted = Counted(reader)
    return counted, replace(inputs, readers={key: counted})


def test_explaining_asks_only_for_what_conflicts() -> None:
    reader, inputs = a_conflict(60)
    asked = ResolutionRequest(inputs)
    resolution = resolution_of(asked)
    assert sorted(set(reader.asked)) == sorted(one.package for one in inputs.subscribers)
    reader.asked.clear()
    [finding] = findings(asked, resolution)
    assert [fix.code for fix in finding.fixes] == ["DropSubscription", "DropSubscription"]
    assert set(reader.asked) == {"a", "b"}
    few, small = a_conflict(3)
    request = ResolutionRequest(small)
    decided = resolution_of(request)
    few.asked.clear()
    findings(request, decided)
    assert sorted(few.asked) == sorted(reader.asked), "however large the namespace is"


def test_nothing_is_built_for_the_explanation_of_what_nobody_refuses() -> None:
    reader, inputs = a_conflict(3)
    assert explain(replace(inputs, subscribers=inputs.subscribers[1:]), Resolution()) == ()
    assert not reader.asked


@pytest.mark.parametrize(
    ("of_a", "reached"),
    [
        pytest.param([], {"a"}, id="nothing that it could have in common with others"),
        pytest.param([gives("K")], {"a", "b"}, id="an API"),
        pytest.param([needs("K")], {"a", "b"}, id="an API that it needs"),
        pytest.param([needs_package("b", ">=9.0.0")], {"a", "b"}, id="a package of which it needs another version"),
        pytest.param([prop("olm.label.required", label="x")], {"a", "b", "c"}, id="a requirement that any might meet"),
    ],
)
def test_what_is_decided_again(of_a: list[Blob], reached: set[str]) -> None:
    packages = [releases("a", 1, v1=of_a), releases("b", 1, v1=[gives("K")])]
    inputs = seen(catalog(*packages, releases("c", 1)), subs=map(sub, "abc"), whole=False)
    assert Neighbourhoods(ResolutionRequest(inputs)).after(inputs, ["a"]).reasons.keys() == reached
    whole = replace(inputs, is_whole=True)
    assert Neighbourhoods(ResolutionRequest(whole)).after(whole, ["a"]).reasons.keys() == {"a", "b", "c"}


def test_a_version_that_nobody_claims_any_more_may_be_adopted_by_another() -> None:
    """Package b has a bundle of the same name, so that the Subscription to it may adopt what that to a gives up."""
    other = [*package("b", [entry("a.v1")]), bundle("b", "a.v1")]
    subs = [sub("a", installed="a.v1"), sub("b", source="other")]
    inputs = seen(
        catalog(releases("a", 1)), catalog(other[:2], other[-1:], name="other"), subs=subs,
        csvs=[csv("a.v1")], whole=False,
    )  # fmt: skip
    without_a = replace(
        inputs,
        subscribers=tuple(one for one in inputs.subscribers if one.name == "b"),
        installed=tuple(replace(one, owner="") for one in inputs.installed),
    )
    found = Neighbourhoods(ResolutionRequest(inputs)).after(without_a, ["a"])
    assert found == resolve(without_a)
    assert [one.bundle.name for one in found.chosen] == ["a.v1"]


def test_a_change_may_lead_to_a_requirement_that_any_might_meet() -> None:
    choosy = bundle("a", "a.v1", prop("olm.label.required", label="x"))
    others = [releases("b", 1, v1=[prop("olm.label", label="x")]), releases("c", 1)]
    offered = catalog(package("a", [entry("a.v2")]), [choosy, channel("a", "old", entry("a.v1"))], *others)
    inputs = seen(offered, subs=map(sub, "abc"), whole=False)
    neighbourhoods = Neighbourhoods(ResolutionRequest(inputs))
    assert neighbourhoods.after(inputs, ["a"]).reasons.keys() == {"a"}
    [a, *rest] = inputs.subscribers
    changed = replace(inputs, subscribers=(replace(a, channel="old"), *rest))
    assert neighbourhoods.after(changed, ["a"]) == resolve(changed)
