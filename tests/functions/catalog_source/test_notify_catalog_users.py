"""Who is told that a catalog changed."""

from __future__ import annotations

import pytest

from eventing.diagnosis.replay.world_ports import NothingRead
from functions.catalog_source.notify_catalog_users import notify_catalog_users
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.ports import Policy
from tests.functions.subscription.world import World, a_catalog_source, a_subscription

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
