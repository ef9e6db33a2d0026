"""Connections to the servers of catalogs: what is told of them, and when nothing is."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import grpc
import pytest

from eventing.events.event import Event
from eventing.watch import connections
from eventing.watch.connections import Connections, Opens
from eventing.watch.following import Following
from eventing.watch.known_objects import KnownObjects
from eventing.watch.skips import Skips
from shared import names
from shared.adapters.catalog_client.dialing import way_to
from shared.adapters.oci.addresses import OPEN
from shared.adapters.oci.errors import OciError
from shared.api.manifest import Manifest
from shared.kinds import CATALOG_SOURCE
from tests.kit.waiting import PATIENCE_SECONDS

REF = CATALOG_SOURCE.ref("tea", "olm")


def a_source(address: str, name: str = "tea", namespace: str = "olm") -> Manifest:
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": name, "resourceVersion": address},
        "spec": {"sourceType": "grpc", "address": address},
    }


class Received:
    """The events."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.dialled: list[str] = []
        self.is_known = True
        self.connections: Connections

    async def deliver(self, events: Sequence[Event]) -> None:
        self.events += events

    def dial(self, address: str) -> Opens:
        self.dialled.append(address)
        if not self.is_known:
            raise OciError("DNS", "no such name")
        return way_to(address, OPEN, {})


def a_server(port: int = 0) -> tuple[grpc.Server, int]:
    server = grpc.server(ThreadPoolExecutor(2), options=[("grpc.so_reuseport", 0)])
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    return server, bound


@asynccontextmanager
async def following(reported: Received) -> AsyncIterator[Following]:
    reported.connections = locked = Connections(reported.dial, reported.deliver)
    yield Following(KnownObjects(CATALOG_SOURCE, "api"), locked, CATALOG_SOURCE, Skips())
    locked.keep(set())


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not is_so():
            await asyncio.sleep(0.01)


async def test_a_server_that_breaks_and_comes_back_is_reported_each_time() -> None:
    """catalog.md §2.9.3; 8.1 row 25: a server behind the same address may have another catalog."""
    reported = Received()
    server, port = a_server()
    async with following(reported) as observer:
        states = reported.connections.states
        [added] = observer.observe("ADDED", a_source(f"127.0.0.1:{port}"))
        assert added.type == names.ADDED
        await until(lambda: states == {("olm", "tea"): "READY"})
        assert reported.events == []  # the event of the object lets it be read
        await asyncio.to_thread(server.stop(0).wait)
        await until(lambda: states == {("olm", "tea"): "BROKEN"} and len(reported.events) == 1)
        server, _ = a_server(port)
        await until(lambda: states == {("olm", "tea"): "READY"} and len(reported.events) == 2)
        await asyncio.to_thread(server.stop(0).wait)
    assert {(event.type, event.ref) for event in reported.events} == {(names.RESYNC_REQUESTED, REF)}
    assert len({event.id for event in reported.events}) == len(reported.events)


async def test_a_server_that_stays_away_is_reported_once_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "LONGEST_PAUSE_SECONDS", 0.01)
    reported = Received()
    reported.is_known = False
    async with following(reported) as observer:
        observer.page([a_source("nowhere:1")], set())
        await until(lambda: len(reported.dialled) >= 20)
    assert reported.events == []


async def test_slow_names_of_one_namespace_hold_up_no_other() -> None:
    asleep, reported = threading.Event(), Received()
    waiting = []

    def dial(address: str) -> Opens:
        if address.startswith("slow"):
            waiting.append(address)
            asleep.wait(PATIENCE_SECONDS)
        return reported.dial(address)

    server, port = a_server()
    locked = Connections(dial, reported.deliver)
    try:
        for number in range(connections.MOST_OF_NAMESPACE):
            locked.put(a_source(f"slow{number}:1", f"slow{number}", "tenant"))
        locked.put(a_source(f"127.0.0.1:{port}"))
        await until(lambda: locked.states.get(("olm", "tea")) == "READY")
        assert len(waiting) <= connections.DIALLED_OF_NAMESPACE
        await asyncio.to_thread(str)  # what everybody shares is free
    finally:
        asleep.set()
        locked.keep(set())
        await asyncio.to_thread(server.stop(0).wait)


async def test_who_names_other_servers_again_and_again_has_no_more_threads() -> None:
    """An attempt that nobody awaits any more goes on in its thread until the name server has answered."""
    asleep, waiting, done = threading.Event(), list[str](), list[str]()

    def dial(address: str) -> Opens:
        waiting.append(address)
        asleep.wait(PATIENCE_SECONDS)
        done.append(address)
        raise OciError("DNS", "no such name")

    locked = Connections(dial, Received().deliver)
    try:
        for number in range(connections.DIALLED_OF_NAMESPACE):
            locked.put(a_source(f"slow{number}:1", f"slow{number}"))
        await until(lambda: len(waiting) == connections.DIALLED_OF_NAMESPACE)
        locked.keep(set())
        for number in range(connections.DIALLED):
            locked.put(a_source(f"other{number}:1"))
            await asyncio.sleep(0.01)  # it would begin
        assert len(waiting) == connections.DIALLED_OF_NAMESPACE
        locked.put(a_source("last:1"))
        asleep.set()
        await until(lambda: "last:1" in done)
    finally:
        asleep.set()
        locked.keep(set())


async def test_what_names_no_server_is_not_followed_any_more() -> None:
    reported = Received()
    server, port = a_server()
    async with following(reported) as observer:
        observer.observe("ADDED", a_source(f"127.0.0.1:{port}"))
        observer.observe("MODIFIED", a_source(f"127.0.0.1:{port}"))
        await until(lambda: len(reported.dialled) >= 1)
        observer.observe("MODIFIED", {**a_source(""), "spec": {"sourceType": "grpc", "image": "i"}})
        observer.observe("ADDED", a_source(f"127.0.0.1:{port}", "cup"))
        await until(lambda: len(reported.dialled) >= 2)
        observer.observe("DELETED", a_source("", "cup"))
        observer.settle(set())
        await asyncio.to_thread(server.stop(0).wait)
        observer.observe("ADDED", a_source("foo", "sick"))
    assert (reported.events, len(reported.dialled)) == ([], 2)


async def test_one_namespace_does_not_take_all_connections() -> None:
    reported = Received()
    reported.is_known = False
    async with following(reported) as observer:
        for number in range(connections.MOST_OF_NAMESPACE + 5):
            observer.observe("ADDED", a_source(f"host:{number + 1}", f"c{number}"))
        observer.observe("ADDED", a_source("other:1", namespace="b"))
        await until(lambda: len(reported.dialled) >= connections.MOST_OF_NAMESPACE + 1)
    assert len(set(reported.dialled)) == connections.MOST_OF_NAMESPACE + 1
    assert "other:1" in reported.dialled


async def test_a_connection_that_broke_down_is_made_again_with_the_next_list() -> None:
    reported = Received()
    fails = [True]

    def dial(address: str) -> Opens:
        if fails:
            raise ValueError(fails.pop())
        return reported.dial(address)

    locked = Connections(dial, reported.deliver)
    source = a_source("nowhere:1")
    try:
        locked.put(source)
        await until(lambda: not fails)
        await asyncio.sleep(0.05)  # the failure reaches the task
        locked.put(source)
        await until(lambda: bool(reported.dialled))
    finally:
        locked.keep(set())
