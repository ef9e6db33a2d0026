"""Servers that keep what they have seen lose nothing to one list that lies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, cast

import aiohttp
import pytest

from eventing.catalogs.served_catalogs import ServedCatalogs
from eventing.catalogs.served_sources import ServedSources
from eventing.packages.catalog_follower import CatalogFollower
from eventing.watch.kept import Seen, kept
from eventing.watch.kind_watch import Observer
from eventing.watch.namespaced import ListedKeys
from eventing.watch.stream import Stream
from eventing.watch.watch_health import WatchHealth
from shared.api.manifest import Manifest
from shared.kinds import CATALOG_SOURCE, CLUSTER_CATALOG, Kind, Watch
from tests.eventing.watch.scripted_api import Lines, Listed, Refused, Script, an_api
from tests.kit.waiting import PATIENCE_SECONDS

Make = Callable[[], tuple[Kind, Observer[Any]]]


def served_catalogs() -> tuple[Kind, Observer[Any]]:
    return CLUSTER_CATALOG, ServedCatalogs([cast("Any", None)], cast("Any", None), "olm")


def served_sources() -> tuple[Kind, Observer[Any]]:
    return CATALOG_SOURCE, ServedSources([cast("Any", None)], [cast("Any", None)], "olm")


def catalog_follower() -> tuple[Kind, Observer[Any]]:
    return CATALOG_SOURCE, CatalogFollower(cast("Any", None), cast("Any", None), "olm")


def a_catalog(name: str, version: str, kind: Kind) -> Manifest:
    namespace = {"namespace": "olm"} if kind.is_namespaced else {}
    status = {"registryService": {"serviceName": name}}
    return {"metadata": {"name": name, "resourceVersion": version, **namespace}, "status": status}


class Spied:
    """Passes on to an observer, and keeps what the end of each list left out."""

    def __init__(self, observer: Observer[Any]) -> None:
        self._observer = observer
        self.observe, self.page = observer.observe, observer.page
        self.settled: list[set[tuple[str, str]]] = []

    def settle(self, listed: ListedKeys) -> Sequence[Any]:
        self.settled.append(set(listed))
        return self._observer.settle(listed)


LIES = (
    pytest.param([Listed([], "3")], id="old and empty"),
    pytest.param([Refused(404, "NotFound")], id="not found"),
)


@pytest.mark.parametrize("make", [served_catalogs, served_sources, catalog_follower])
@pytest.mark.parametrize("lie", LIES)
async def test_one_list_that_lies_drops_no_catalog(make: Make, lie: Script) -> None:
    kind, observer = make()
    spied = Spied(observer)
    first, second = a_catalog("a", "5", kind), a_catalog("b", "6", kind)

    async def deliver(_: Sequence[Any]) -> None:
        """Nobody waits for it."""

    script: Script = [Listed([first], "5"), Refused(410, "Expired"), *lie, Listed([first, second], "6"), Lines()]
    async with an_api(*script) as (api, connection), aiohttp.ClientSession() as session:
        api.has_discovery, api.objects = False, {"a": "5"}
        stream = Stream(session, connection, kind, Watch(is_whole=True))
        watch = kept(stream, spied, deliver, health=WatchHealth(), seconds=60)
        task = asyncio.create_task(watch.run())
        await asyncio.wait_for(api.is_over.wait(), PATIENCE_SECONDS)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    namespace = "olm" if kind.is_namespaced else ""
    assert spied.settled == [{(namespace, "a")}, {(namespace, "a"), (namespace, "b")}]


def test_what_is_gone_is_not_asked_for() -> None:
    _, observer = catalog_follower()
    seen = Seen(observer)
    assert not seen.has_any
    seen.page([a_catalog(name, version, CATALOG_SOURCE) for name, version in (("a", "9"), ("b", "10"))], set())
    assert seen.newest(5) == [(("olm", "b"), "10"), (("olm", "a"), "9")]
    seen.observe("MODIFIED", a_catalog("a", "11", CATALOG_SOURCE))
    seen.observe("DELETED", a_catalog("b", "12", CATALOG_SOURCE))
    assert seen.newest(5) == [(("olm", "a"), "11")]
    seen.settle(set())
    assert not seen.has_any
