"""The ConfigMap that a CatalogSource waits for is watched by its name, until it is there; on the sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from eventing.events.event import Event
from eventing.routes import jobs_for
from eventing.watch import config_maps
from eventing.watch.program import Watcher
from shared import names
from shared.adapters.kube import KubeClient, connect
from shared.kinds import CATALOG_SOURCE, CONFIG_MAP
from tests.eventing.watch.test_demands import kubeconfig, until
from tests.functions.subscription.world import a_catalog_source

__all__ = ["kubeconfig"]
SOURCE = CATALOG_SOURCE.ref("kitchen", "default")
MAP = CONFIG_MAP.ref("menu", "default")
WAITING = {"reason": "ConfigMapError", "message": "not found"}


def a_source(name: str = SOURCE.name, config_map: str = MAP.name) -> dict[str, Any]:
    meta = {"name": name, "namespace": SOURCE.namespace}
    return a_catalog_source(name) | {"metadata": meta, "spec": {"sourceType": "internal", "configMap": config_map}}


@pytest.fixture
def cluster(kubeconfig: str) -> Iterator[KubeClient]:
    client = KubeClient.from_kubeconfig(kubeconfig)
    yield client
    for one in (*client.list(CATALOG_SOURCE), *client.list(CONFIG_MAP, MAP.namespace)):
        if one["metadata"]["name"] != "kube-root-ca.crt":
            kind = CATALOG_SOURCE if one["kind"] == "CatalogSource" else CONFIG_MAP
            client.delete(kind.ref(one["metadata"]["name"], one["metadata"]["namespace"]))


@asynccontextmanager
async def watching(kubeconfig: str) -> AsyncIterator[tuple[Watcher, list[Event]]]:
    heard: list[Event] = []
    watcher = Watcher(connect(kubeconfig), heard.extend, kinds=(CATALOG_SOURCE,), seconds=60)
    task = asyncio.create_task(watcher.run())
    try:
        yield watcher, heard
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def tell(cluster: KubeClient, status: dict[str, Any], source: dict[str, Any] | None = None) -> None:
    """Write a status, as the step does."""
    stored = cluster.get(CATALOG_SOURCE.ref((source or a_source())["metadata"]["name"], SOURCE.namespace))
    assert stored is not None
    cluster.replace_status({**stored, "status": status})


async def test_a_config_map_that_comes_is_told_at_once_and_is_not_watched_by_name_any_more(
    kubeconfig: str, cluster: KubeClient
) -> None:
    """catalog.md 8.1 rows 13 and 16; of others of the namespace nothing is heard."""
    cluster.create(a_source())
    tell(cluster, WAITING)
    async with watching(kubeconfig) as (watcher, heard):
        await until(lambda: watcher.awaited_config_maps == {(MAP.namespace, MAP.name)})
        for name in ("other", MAP.name):
            meta = {"name": name, "namespace": MAP.namespace}
            cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"secret": "x"}})
        await until(lambda: [one for one in heard if one.type == names.RESYNC_REQUESTED])
        [told] = [one for one in heard if one.type == names.RESYNC_REQUESTED]
        assert told.ref == SOURCE
        assert "catalog_source/snapshot_config_map" in {job.step for job in jobs_for(told)}
        tell(cluster, {"connectionState": {"lastObservedState": "READY"}})
        await until(lambda: watcher.awaited_config_maps == frozenset())


async def test_a_catalog_that_goes_takes_its_watch_with_it_and_others_have_none(
    kubeconfig: str, cluster: KubeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config_maps, "MOST_OF_NAMESPACE", 1)
    image = {**a_source("image"), "spec": {"sourceType": "grpc", "image": "a:b"}}
    nameless = a_source("nameless", "..")
    for one in (a_source(), image, nameless, a_source("late")):
        cluster.create(one)
        tell(cluster, WAITING, one)
    async with watching(kubeconfig) as (watcher, _):
        await until(lambda: watcher.awaited_config_maps == {(MAP.namespace, MAP.name)})
        for name in (SOURCE.name, "late"):
            cluster.delete(CATALOG_SOURCE.ref(name, SOURCE.namespace))
        await until(lambda: watcher.awaited_config_maps == frozenset())
