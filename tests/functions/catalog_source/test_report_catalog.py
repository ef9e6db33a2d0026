"""Who is told that a catalog changed."""

from __future__ import annotations

import pytest

from functions.catalog_source.report_catalog import report_catalog
from shared import kinds, names
from shared.api.manifest import Manifest
from shared.ports import Policy
from tests.functions.subscription.world import World, a_catalog_source, a_subscription

READY = {"connectionState": {"lastObservedState": "READY"}}


def told(source: Manifest, *subscriptions: Manifest) -> dict[str, list[str]]:
    """Namespaces and Subscriptions that are rung."""
    world = World(source, *subscriptions)
    meta = source["metadata"]
    outcome = report_catalog(kinds.CATALOG_SOURCE.ref(meta["name"], meta["namespace"]), world, Policy())
    rung: dict[str, list[str]] = {names.CATALOG_REPORTED: [], names.DEPENDENT_RANG: []}
    for emit in outcome.emits:
        rung[emit.type].append(f"{emit.ref.namespace}/{emit.ref.name}".removeprefix("/"))
    return rung


def test_nobody_is_told_where_nobody_subscribes() -> None:
    assert told(a_catalog_source()) == {names.CATALOG_REPORTED: [], names.DEPENDENT_RANG: []}


def test_a_global_catalog_concerns_every_namespace_with_subscriptions() -> None:
    """catalog.md 9.1: OLM tells only the global namespace itself."""
    rung = told(a_catalog_source(), a_subscription(namespace="a"), a_subscription(namespace="b", source="other"))
    assert rung[names.CATALOG_REPORTED] == ["a", "b"]
    assert rung[names.DEPENDENT_RANG] == ["a/etcd", "b/etcd"]


def test_a_catalog_of_a_namespace_concerns_who_uses_it_there() -> None:
    own = a_subscription(namespace="a", sourceNamespace="a")
    rung = told(a_catalog_source(namespace="a"), own, a_subscription(namespace="b"))
    assert rung == {names.CATALOG_REPORTED: ["a"], names.DEPENDENT_RANG: ["a/etcd"]}


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
    outcome = report_catalog(kinds.CATALOG_SOURCE.ref("other", "olm"), world, Policy())
    rung = [f"{one.ref.namespace}/{one.ref.name}" for one in outcome.emits if one.type == names.DEPENDENT_RANG]
    assert rung == want
