"""Whom a change of a catalog leaves out decides the same before and after it, whatever catalogs and namespaces hold."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Final

import pytest

from functions.catalog_source.notify_catalog_users import notify_catalog_users
from functions.subscription.resolve_subscriptions import resolve_subscriptions
from functions.subscription.track_subscription import track_subscription
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.domain.catalog.model import Bundle, Channel, Entry, Package, Property
from shared.domain.resolver.model import Chosen
from shared.domain.resolver.resolve import resolve
from shared.kinds import Ref
from shared.ports import Policy
from shared.reading.namespace import read_namespace
from shared.step import Outcome, SetStatus
from tests.functions.catalog_source.stored_reads import StoredReads
from tests.functions.subscription.world import FakeCatalogs, a_catalog_source, a_subscription, an_operator_group
from tests.kit.cluster import FakeCluster, FixedClock
from tests.kit.world import NOW

PACKAGES: Final = "abcdefgh"
APIS: Final = "KLMNO"
CASES: Final = 250
SOURCES: Final = {("local", "olm"): 0, ("other", "olm"): 5, ("own", "ns"): 0}
"""CatalogSources, and their priorities."""
NAMESPACE: Final = kinds.NAMESPACE.ref("ns")
CLOCK, POLICY = FixedClock(NOW), Policy()


def an_api(kind: str, what: str) -> Property:
    return Property(what, {"group": "g", "version": "v1", "kind": kind})


def properties(rng: random.Random, number: int) -> list[Property]:
    """What a version provides and requires; newer ones require more, so that some updates wait for a provider."""
    found = [an_api(kind, "olm.gvk") for kind in APIS if rng.random() < 0.05]
    found += [an_api(kind, "olm.gvk.required") for kind in APIS if rng.random() < 0.04 * (number - 1)]
    if rng.random() < 0.04 * (number - 1):
        found.append(Property("olm.package.required", {"packageName": rng.choice(PACKAGES), "versionRange": ">=1.0.0"}))
    if rng.random() < 0.002:
        found.append(Property("olm.label.required", {"label": "tested"}))
    if rng.random() < 0.04:
        found.append(Property("olm.label", {"label": "tested"}))
    if rng.random() < 0.03:
        found.append(Property("olm.deprecated", {}))
    if rng.random() < 0.04:
        either = [{"gvk": an_api(kind, "olm.gvk").value} for kind in rng.sample(APIS, 2)]
        found.append(Property("olm.constraint", {"failureMessage": "one of two", "any": {"constraints": either}}))
    return found


def a_bundle(rng: random.Random, package: str, number: int) -> Bundle:
    identity = Property("olm.package", {"packageName": package, "version": f"{number}.0.0"})
    declared = (identity, *properties(rng, number))
    return Bundle(f"{package}.v{number}", f"{number}.0.0", f"registry/{package}:v{number}", declared)


def a_package(rng: random.Random, name: str) -> Package:
    numbers = range(1, rng.randint(1, 4) + 1)
    bundles = {one.name: one for one in (a_bundle(rng, name, number) for number in numbers)}
    entries = [Entry(f"{name}.v{number}", f"{name}.v{number - 1}" if number > 1 else "") for number in numbers]
    return Package(name, "stable", (Channel("stable", tuple(entries)),), bundles)


def content(rng: random.Random) -> dict[str, Package]:
    return {name: a_package(rng, name) for name in PACKAGES if rng.random() < 0.7}


def changed(rng: random.Random, before: dict[str, Package]) -> dict[str, Package]:
    """The same catalog with one or two packages that are new, gone, anew, deprecated, or have one version otherwise."""
    after = dict(before)
    for name in rng.sample(PACKAGES, rng.randint(1, 2)):
        package = after.get(name)
        match rng.choice(["anew", "gone", "version", "version", "next", "deprecated"]):
            case "gone":
                after.pop(name, None)
            case "version" if package:
                number = int(rng.choice(list(package.bundles)).rpartition("v")[2])
                bundle = a_bundle(rng, name, number)
                after[name] = replace(package, bundles={**package.bundles, bundle.name: bundle})
            case "next" if package:
                number = len(package.bundles) + 1
                bundle = a_bundle(rng, name, number)
                entry = Entry(bundle.name, f"{name}.v{number - 1}")
                channel = Channel("stable", (*package.channels[0].entries, entry))
                after[name] = replace(package, channels=(channel,), bundles={**package.bundles, bundle.name: bundle})
            case "deprecated" if package:
                bundle_name = rng.choice(list(package.bundles))
                after[name] = replace(package, deprecations={f"bundle/{bundle_name}": "use another"})
            case _:
                after[name] = a_package(rng, name)
    return after


def a_version(bundle: Bundle) -> Manifest:
    """The ClusterServiceVersion of a bundle."""
    listed = [{"type": one.type, "value": one.value} for one in bundle.properties]
    meta = {
        "name": bundle.name,
        "namespace": "ns",
        "annotations": {names.PROPERTIES: json.dumps({"properties": listed})},
    }
    kind = kinds.CLUSTER_SERVICE_VERSION
    spec = {"version": bundle.version}
    status = {"phase": "Succeeded"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec, "status": status}


class Case:
    """A namespace with some Subscriptions, and three catalogs."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.catalogs = FakeCatalogs()
        self.content = {place: content(self.rng) for place in SOURCES}
        self.cluster = FakeCluster([an_operator_group()])
        for place in SOURCES:
            self.publish(place)
        self.subscriptions = [self._subscribe(name) for name in self.rng.sample(PACKAGES, self.rng.randint(1, 3))]
        if self.rng.random() < 0.2:  # a version that no Subscription claims
            package = a_package(self.rng, self.rng.choice(PACKAGES))
            self._put(a_version(next(iter(package.bundles.values()))))

    def publish(self, place: tuple[str, str], *, priority: int = 0, state: str = "READY") -> None:
        """Let a catalog have its content, and its CatalogSource say so."""
        name, namespace = place
        image = f"registry/{namespace}-{name}:v1"
        self.catalogs.publish(image, *self.content[place].values())
        source = a_catalog_source(name, namespace, image=image, priority=priority or SOURCES[place])
        condition = {"type": names.RESOLVED_CONTENT, "status": "True", "message": self.catalogs.reference(image)}
        status = {"connectionState": {"lastObservedState": state}, "conditions": [condition]}
        self._put({**source, "status": status})

    def _put(self, manifest: Manifest) -> None:
        self.cluster.objects[Ref.of(manifest)] = manifest

    def _subscribe(self, package: str) -> Ref:
        """A Subscription, mostly of something that is installed."""
        places = [place for place, offered in self.content.items() if package in offered]
        source, namespace = self.rng.choice(places or list(SOURCES))
        offered = self.content[source, namespace]
        manifest = a_subscription(package, source=source, sourceNamespace=namespace, channel="stable")
        if package in offered and self.rng.random() < 0.5:
            bundle = self.rng.choice([*offered[package].bundles.values()])
            self._put(a_version(bundle))
            manifest["status"] = {
                "installedCSV": bundle.name, "currentCSV": bundle.name, "state": "AtLatestKnown",
            }  # fmt: skip
        self._put(manifest)
        return Ref.of(manifest)

    def decide(self, ref: Ref) -> Outcome:
        """What the step decides that reads catalogs for the object."""
        step = resolve_subscriptions if ref == NAMESPACE else track_subscription
        return step(ref, self.cluster, self.catalogs, clock=CLOCK, policy=POLICY)

    def rest(self) -> None:
        """Install what is chosen until nothing is, and let statuses say what is decided of them."""
        for _ in range(8):
            chosen = resolve(read_namespace(self.cluster, self.catalogs, "ns", POLICY).inputs).chosen
            for one in chosen:
                self._install(one)
            if not chosen:
                break
        self.run({NAMESPACE, *self.subscriptions})

    def run(self, woken: set[Ref]) -> dict[Ref, Outcome]:
        """Let these be decided, and whatever the statuses that they write enqueue; the last decision about each."""
        decided, waiting = dict[Ref, Outcome](), sorted(woken)
        while waiting:
            ref = waiting.pop(0)
            outcome = decided[ref] = self.decide(ref)
            for write in outcome.writes:
                if isinstance(write, SetStatus):
                    self._put({**self.cluster.objects[write.ref], "status": write.status})
                    waiting += [one for one in (write.ref, NAMESPACE) if one not in waiting]
        return decided

    def _install(self, chosen: Chosen) -> None:
        """What is there once an InstallPlan was executed, and replaced what it replaces."""
        self.cluster.objects.pop(kinds.CLUSTER_SERVICE_VERSION.ref(chosen.replaces or "none", "ns"), None)
        self._put(a_version(chosen.bundle))
        for name in chosen.subscribers or (chosen.package,):
            key = chosen.catalog.key
            spec = {"source": key.name, "sourceNamespace": key.namespace, "channel": chosen.channel}
            made = a_subscription(name, package=chosen.package, **spec)
            ref = Ref.of(made)
            status = {"state": "AtLatestKnown", **dict.fromkeys(("installedCSV", "currentCSV"), chosen.bundle.name)}
            self._put({**self.cluster.objects.get(ref, made), "status": status})
            self.subscriptions += [] if ref in self.subscriptions else [ref]

    def woken(self, place: tuple[str, str], reads: StoredReads) -> set[Ref]:
        """Who is told of a change of a catalog."""
        ref = kinds.CATALOG_SOURCE.ref(*place)
        outcome = notify_catalog_users(ref, self.cluster, self.catalogs, reads, POLICY)
        return {emit.ref for emit in outcome.emits}


def change(case: Case, rng: random.Random) -> tuple[str, str]:
    """A catalog with other content, and perhaps another priority or health."""
    place = rng.choice(list(SOURCES))
    case.content[place] = changed(rng, case.content[place])
    state = rng.choice(["READY"] * 9 + ["CONNECTING"])
    case.publish(place, priority=rng.choice([0, 0, 0, 9]), state=state)
    return place


def is_same(one: Outcome, other: Outcome) -> bool:
    """All of two decisions but what was read for them."""
    return replace(one, read_set=None) == replace(other, read_set=None)


@pytest.mark.unmeasured
def test_who_is_left_out_decides_the_same_before_and_after() -> None:
    """Issue 17: only the namespaces that a new version concerns are resolved; none of these is left out."""
    left_out = otherwise = 0
    for seed in range(CASES):
        case = Case(seed)
        case.rest()
        refs = (NAMESPACE, *case.subscriptions)
        before = {ref: case.decide(ref) for ref in refs}
        reads = StoredReads({ref: outcome.read_set for ref, outcome in before.items()})
        woken = case.woken(change(case, case.rng), reads)
        for ref, outcome in before.items():
            now = is_same(case.decide(ref), outcome)
            left_out += ref not in woken
            otherwise += not now
            assert now or ref in woken, f"seed {seed}: {ref} was left out and decides otherwise"
    assert (left_out > CASES // 4, otherwise > CASES // 10) == (True, True), (left_out, otherwise)


@pytest.mark.unmeasured
def test_who_was_left_out_of_some_changes_is_woken_by_the_one_that_concerns_it() -> None:
    """Some looks are missed, too: what counts is what was read last, however long ago."""
    left_out = otherwise = 0
    for seed in range(CASES // 2):
        case, stored = Case(seed), dict[Ref, Outcome]()
        case.rest()
        woken: set[Ref] = {NAMESPACE, *case.subscriptions}
        for _ in range(4):
            stored |= case.run(woken)
            reads = StoredReads({ref: outcome.read_set for ref, outcome in stored.items()})
            places = {change(case, case.rng) for _ in range(case.rng.choice([1, 1, 2]))}
            woken = {ref for place in places for ref in case.woken(place, reads)} & stored.keys()
            for ref in stored.keys() - woken:
                assert is_same(case.decide(ref), stored[ref]), f"seed {seed}: {ref} was left out and decides otherwise"
            left_out += len(stored.keys() - woken)
            otherwise += sum(not is_same(case.decide(ref), stored[ref]) for ref in woken)
    assert (left_out > CASES, otherwise > CASES // 10) == (True, True), (left_out, otherwise)
