"""Who is told that a catalog changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eventing.diagnosis.replay.world_ports import NothingRead
from eventing.events.job import Job
from functions.catalog_source.notify_catalog_users import notify_catalog_users
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.domain.catalog.model import Package
from shared.kinds import Ref
from shared.ports import Policy, Unavailable
from tests.functions.subscription.world import (
    World,
    a_bundle,
    a_catalog_source,
    a_package,
    a_subscription,
    an_operator_group,
)

READY = {"connectionState": {"lastObservedState": "READY"}}


def reported(source: Manifest, *subscriptions: Manifest) -> dict[str, list[str]]:
    """Namespaces and Subscriptions that are enqueued."""
    world = World(source, *subscriptions)
    meta = source["metadata"]
    outcome = notify_catalog_users(
        kinds.CATALOG_SOURCE.ref(meta["name"], meta["namespace"]), world, world.catalogs, NothingRead(), Policy()
    )
    enqueued: dict[str, list[str]] = {names.CATALOG_CHANGED: [], names.DEPENDENT_CHANGED: []}
    for emit in outcome.emits:
        enqueued[emit.type].append(f"{emit.ref.namespace}/{emit.ref.name}".removeprefix("/"))
    return enqueued


def test_nobody_is_told_where_nobody_subscribes() -> None:
    assert reported(a_catalog_source()) == {names.CATALOG_CHANGED: [], names.DEPENDENT_CHANGED: []}


def test_a_global_catalog_concerns_every_namespace_with_subscriptions() -> None:
    """catalog.md 9.1: OLM tells only the global namespace itself."""
    enqueued = reported(
        a_catalog_source(), a_subscription(namespace="a"), a_subscription(namespace="b", source="other")
    )
    assert enqueued[names.CATALOG_CHANGED] == ["a", "b"]
    assert enqueued[names.DEPENDENT_CHANGED] == ["a/etcd", "b/etcd"]


def test_a_catalog_of_a_namespace_concerns_who_uses_it_there() -> None:
    own = a_subscription(namespace="a", sourceNamespace="a")
    enqueued = reported(a_catalog_source(namespace="a"), own, a_subscription(namespace="b"))
    assert enqueued == {names.CATALOG_CHANGED: ["a"], names.DEPENDENT_CHANGED: ["a/etcd"]}


@pytest.mark.parametrize(
    ("message", "want"),
    [
        pytest.param("all available catalogsources are healthy", [], id="it says so already"),
        pytest.param("targeted catalogsource olm/other missing", ["a/etcd"], id="it says something else"),
    ],
)
def test_who_says_the_same_already_is_left_in_peace(message: str, want: list[str]) -> None:
    source = {**a_catalog_source("other"), "status": READY}
    world = World(source, a_catalog_source() | {"status": READY})
    uids = [world.objects[kinds.CATALOG_SOURCE.ref(name, "olm")]["metadata"]["uid"] for name in ("local", "other")]
    health = [{"catalogSourceRef": {"uid": uid}, "healthy": True} for uid in uids]
    condition = {"type": "CatalogSourcesUnhealthy", "status": "False", "message": message}
    world.put(a_subscription(namespace="a") | {"status": {"catalogHealth": health, "conditions": [condition]}})
    outcome = notify_catalog_users(
        kinds.CATALOG_SOURCE.ref("other", "olm"), world, world.catalogs, NothingRead(), Policy()
    )
    enqueued = [f"{one.ref.namespace}/{one.ref.name}" for one in outcome.emits if one.type == names.DEPENDENT_CHANGED]
    assert enqueued == want


A, B = kinds.NAMESPACE.ref("a"), kinds.NAMESPACE.ref("b")
ETCD, VAULT = kinds.SUBSCRIPTION.ref("etcd", "a"), kinds.SUBSCRIPTION.ref("vault", "b")
LOCAL, IMAGE = kinds.CATALOG_SOURCE.ref("local", "olm"), "registry/local:v1"
NOTIFY = Job("catalog_source/notify_catalog_users", LOCAL)


def resting() -> World:
    """Two namespaces: in one etcd is installed, in the other vault; nothing is left to do."""
    world = World()
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0"), a_package("vault", "1.0.0"))
    for package, namespace in (("etcd", "a"), ("vault", "b")):
        name = f"{package}.v1.0.0"
        csv = a_bundle(package, "1.0.0")[0]
        world.put({**csv, "metadata": {"name": name, "namespace": namespace}})
        world.put(an_operator_group(namespace))
        installed = {"installedCSV": name, "currentCSV": name, "state": "AtLatestKnown"}
        world.put(a_subscription(package, namespace, channel="stable") | {"status": installed})
    world.put(a_catalog_source())
    world.settle()
    return world


def after(world: World, *packages: Package) -> set[Ref]:
    """Who is told once the catalog has these packages."""
    world.catalogs.publish(IMAGE, *packages)
    world.run(Job("catalog_source/snapshot_catalog", LOCAL, "long"))
    assert NOTIFY.step in {job.step for job in world.jobs}
    return {emit.ref for emit in world.run(NOTIFY).emits}


def test_only_whom_a_new_version_concerns_is_told() -> None:
    world = resting()
    told = after(world, a_package("etcd", "1.0.0", "1.1.0"), a_package("vault", "1.0.0"), a_package("new", "1.0.0"))
    assert told == {A}
    world.settle()
    assert world.objects[ETCD]["status"]["conditions"]
    assert after(world, a_package("etcd", "1.0.0"), a_package("vault", "1.0.0")) >= {A}


def test_whom_it_does_not_concern_is_not_resolved() -> None:
    """Issue 17: one new catalog version, only the namespaces that it concerns are resolved."""
    world, ran = resting(), list[Ref]()
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0"), a_package("vault", "1.0.0", "2.0.0"))
    world.queue.add(Job("catalog_source/snapshot_catalog", LOCAL, "long"), "poll")
    while found := world.queue.take():
        job, _ = found
        ran += [job.ref] if job.step == "subscription/resolve_subscriptions" else []
        world.run(job)
    assert set(ran) == {B}


def test_what_is_not_known_of_a_namespace_wakes_it() -> None:
    """Redis was emptied: nobody is left out."""
    world = resting()
    world._kept.clear()
    assert after(world, a_package("etcd", "1.0.0"), a_package("vault", "1.0.0")) == {A, B, ETCD, VAULT}


def test_who_waits_to_be_resolved_is_told() -> None:
    """What it reads then may be more than it read last."""
    world = resting()
    world.queue.add(Job("subscription/resolve_subscriptions", B), "an edit")
    assert after(world, a_package("etcd", "1.0.0"), a_package("vault", "1.0.0"), a_package("new", "1.0.0")) == {B}


def test_who_could_not_be_resolved_is_told() -> None:
    """Anything might help."""
    world = resting()
    world.put(a_subscription("nosuch", "a"))
    world.settle()
    assert after(world, a_package("etcd", "1.0.0"), a_package("vault", "1.0.0"), a_package("new", "1.0.0")) == {A}


def test_a_change_that_was_missed_is_found_with_the_next() -> None:
    """What is compared is what was read last, whatever was in between."""
    world = resting()
    world.catalogs.publish(IMAGE, a_package("etcd", "1.0.0", "1.1.0"), a_package("vault", "1.0.0"))
    world.run(Job("catalog_source/snapshot_catalog", LOCAL, "long"))
    world.jobs.clear()  # it is lost
    more = [a_package("etcd", "1.0.0", "1.1.0"), a_package("vault", "1.0.0"), a_package("new", "1.0.0")]
    assert after(world, *more) == {A}


def test_content_that_cannot_be_read_leaves_nobody_out() -> None:
    world = resting()
    world.catalogs.trouble = Unavailable("Unreachable", "no answer")
    assert {emit.ref for emit in world.run(NOTIFY).emits} == {A, B, ETCD, VAULT}


def test_a_catalog_that_is_gone_concerns_everybody() -> None:
    world = resting()
    world.remove(LOCAL)
    assert {A, B, ETCD, VAULT} <= {emit.ref for emit in world.run(NOTIFY).emits}


def test_a_catalog_that_is_not_well_concerns_everybody_until_it_is() -> None:
    world = resting()
    world.catalogs.trouble = Unavailable("Unreachable", "no answer")
    world.run(Job("catalog_source/snapshot_catalog", LOCAL, "long"))
    world.catalogs.trouble = None
    assert {emit.ref for emit in world.run(NOTIFY).emits} == {A, B, ETCD, VAULT}
    world.settle()
    assert world.run(NOTIFY).emits == ()


def test_another_catalog_concerns_everybody_who_sees_it() -> None:
    world = resting()
    world.catalogs.publish("registry/second:v1", a_package("new", "1.0.0"))
    world.put(a_catalog_source("second"))
    outcome = world.run(Job(NOTIFY.step, kinds.CATALOG_SOURCE.ref("second", "olm")))
    assert {A, B} <= {emit.ref for emit in outcome.emits}


def test_a_deprecation_concerns_only_those_whose_package_it_is() -> None:
    world = resting()
    deprecated = replace(a_package("vault", "1.0.0"), deprecations={"package": "use another"})
    assert after(world, a_package("etcd", "1.0.0"), deprecated) == {B, VAULT}
    world.settle()
    kinds_of = {one["type"] for one in world.objects[VAULT]["status"]["conditions"]}
    assert "PackageDeprecated" in kinds_of
    assert after(world, a_package("etcd", "1.0.0"), a_package("vault", "1.0.0")) == {B, VAULT}
    world.settle()
    assert "PackageDeprecated" not in {one["type"] for one in world.objects[VAULT]["status"]["conditions"]}


def test_a_newer_version_is_told_to_who_is_pinned() -> None:
    world = resting()
    pinned = world.objects[ETCD]
    annotated = {**pinned["metadata"], "annotations": {"olmf.io/version": "1.0.0"}}
    world.put({**pinned, "metadata": annotated})
    world.settle()
    assert after(world, a_package("etcd", "1.0.0", "1.1.0"), a_package("vault", "1.0.0")) == {A, ETCD}
    world.settle()
    assert "Pinned" in {one["type"] for one in world.objects[ETCD]["status"]["conditions"]}
    assert after(world, a_package("etcd", "1.0.0", "1.1.0", "1.1.1"), a_package("vault", "1.0.0")) == {A, ETCD}


def test_of_a_subscription_that_is_gone_nothing_is_kept() -> None:
    world = resting()
    assert ("subscription/track_subscription", VAULT) in world._kept
    world.remove(VAULT)
    world.settle()
    assert not [ref for _, ref in world._kept if ref in (VAULT, B)]
