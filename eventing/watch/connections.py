"""Holds a connection to the server of each CatalogSource with an `address`, and tells when it breaks or comes back.

OLM keeps such connections, and reads a catalog again when its server is another one (catalog.md §2.9). Here nothing is
read and nothing written for them: a change of a connection is an event of the CatalogSource, which runs its steps.
"""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias
from weakref import WeakValueDictionary

import structlog

from eventing.events.event import Event
from eventing.watch.keyed_tasks import KeyedTasks
from eventing.watch.namespaced import Key, ListedKeys
from shared import names
from shared.adapters.oci.errors import OciError
from shared.api.manifest import ReadOnly, name_of, namespace_of
from shared.api.views import CatalogSource
from shared.domain.catalog_source import SERVED, CatalogRequest, catalog_request
from shared.kinds import CATALOG_SOURCE

if TYPE_CHECKING:
    import grpc
    import grpc.aio

READY, BROKEN = "READY", "BROKEN"
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.25, 10.0
"""Between two attempts to connect."""
STEADY_SECONDS: Final = 60.0
LONGEST_BREAK_SECONDS: Final = 300.0
"""Connections that hold for less than `STEADY_SECONDS` are made again after longer and longer pauses, up to this one:
each lets a catalog be read, and who hangs up at once must not have it read all the time."""
MOST, MOST_OF_NAMESPACE = 256, 16
"""Connections that are held; the catalogs beyond are read every quarter of an hour only."""
DIALLED, DIALLED_OF_NAMESPACE = 16, 2
"""Addresses that are looked up at a time: a name server may take its time on purpose."""
_STAY: Final = (("grpc.client_idle_timeout_ms", 2**31 - 1),)
log = structlog.get_logger()


class Opens(Protocol):
    """What leads to a server."""

    def aio_channel(self, *options: tuple[str, int | str]) -> grpc.aio.Channel:
        """A channel."""
        ...


Dial: TypeAlias = Callable[[str], Opens]
"""The way to an address; it may take seconds. OciError when there is none."""


class Connections:
    """The connections to the servers that CatalogSources name."""

    def __init__(self, dial: Dial, deliver: Callable[[Sequence[Event]], Awaitable[None]]) -> None:
        self._dial = dial
        self._deliver = deliver
        self._tasks = KeyedTasks(self._follow, "connection", most=MOST, most_of_namespace=MOST_OF_NAMESPACE)
        self._threads = ThreadPoolExecutor(DIALLED, "dial")
        self._dials: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        """By namespace, as long as somebody dials for it, or waits to."""
        self.states: dict[Key, str] = {}
        """READY or BROKEN, of each catalog whose server was tried: what was found last."""

    def put(self, manifest: ReadOnly) -> None:
        """Follow the server of a CatalogSource, or none if it names none."""
        key, address = (namespace_of(manifest), name_of(manifest)), _address(manifest)
        if self._tasks.targets.get(key, address) != address or not address:
            self.drop(key)
        self._tasks.put(key, address)

    def drop(self, key: Key) -> None:
        """Follow its server no longer."""
        self.states.pop(key, None)
        self._tasks.drop(key)

    def keep(self, listed: ListedKeys) -> None:
        """Follow only the servers of CatalogSources that were listed."""
        for key in {*self._tasks.targets, *self.states} - listed:
            self.drop(key)

    async def _follow(self, key: Key, address: str) -> None:
        """Connect for ever. What was found first is not told: the step that reads the catalog sees it itself."""
        failures, breaks = 0, 0
        while True:
            started = asyncio.get_running_loop().time()
            async for state in self._states(key[0], address):
                before, self.states[key] = self.states.get(key), state
                if before and (state == READY or before != state):
                    await self._deliver_event(key, state)
            if self.states[key] == READY:
                held = asyncio.get_running_loop().time() - started
                failures, breaks = 0, 0 if held > STEADY_SECONDS else breaks + 1
                pause = min(LONGEST_BREAK_SECONDS, FIRST_PAUSE_SECONDS * 2 ** min(breaks, 16))
            else:
                failures += 1
                pause = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** min(failures, 16))
            await asyncio.sleep(pause * random.uniform(0.8, 1.2))  # noqa: S311  # why: not all at once

    async def _states(self, namespace: str, address: str) -> AsyncIterator[str]:
        """READY once it is connected; BROKEN when it could not be. Ends when the connection has."""
        try:
            way = await self._dialled(namespace, address)
        except OciError:
            yield BROKEN
            return
        async with way.aio_channel(*_STAY) as channel:
            state = channel.get_state(try_to_connect=True)
            while state.name in ("IDLE", "CONNECTING"):
                await channel.wait_for_state_change(state)
                state = channel.get_state(try_to_connect=True)
            if state.name != READY:
                yield BROKEN
                return
            yield READY
            await channel.wait_for_state_change(state)

    async def _dialled(self, namespace: str, address: str) -> Opens:
        """The way to an address. Who does not wait for it any more leaves its thread taken until that is done."""
        places = self._dials.setdefault(namespace, asyncio.Semaphore(DIALLED_OF_NAMESPACE))
        await places.acquire()
        dialling = asyncio.get_running_loop().run_in_executor(self._threads, self._dial, address)
        dialling.add_done_callback(partial(_release, places))
        await asyncio.wait((dialling,))  # why: a cancellation ends the wait for a thread, but not what the thread does
        return dialling.result()

    async def _deliver_event(self, key: Key, state: str) -> None:
        ref = CATALOG_SOURCE.ref(key[1], key[0])
        log.info("connection_changed", ref=str(ref), state=state)
        event = Event(f"connection-{uuid.uuid4()}", names.RESYNC_REQUESTED, "/olmf/watch", ref)
        await self._deliver([event])


def _release(places: asyncio.Semaphore, dialled: asyncio.Future[Opens]) -> None:
    """Nobody may be left to ask for what was found; an error that nobody asks for is logged."""
    places.release()
    dialled.exception()


def _address(manifest: ReadOnly) -> str:
    """The address of the server that a CatalogSource names; empty without one that can be asked."""
    request = catalog_request(CatalogSource(manifest))
    image = request.image if isinstance(request, CatalogRequest) else ""
    return image.removeprefix(SERVED) if image.startswith(SERVED) else ""
