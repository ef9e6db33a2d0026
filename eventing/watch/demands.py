"""Watches the kinds that ClusterObjectSets consist of and that no route names, as long as one consists of them.

Of these kinds only the metadata of objects with the label of revisions is watched, in all namespaces. A change, also of
what a readiness depends on, wakes the revisions that own the object. A kind that is not served (yet) is looked for with
each change of a definition of its group, and every few minutes. Such a watch has no part in the health of the program.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeAlias

import aiohttp
import orjson
import structlog

from eventing.events.event import Event
from eventing.watch.kind_watch import KindWatch
from eventing.watch.known_objects import KnownObjects
from eventing.watch.namespaced import Key, ListedKeys
from eventing.watch.older_lists import Judge, Restored
from eventing.watch.outage import Outage
from eventing.watch.skips import Guarded, Skips
from eventing.watch.stream import Stream, request_options
from eventing.watch.translated import Translated
from eventing.watch.watch_health import WatchHealth
from shared import names
from shared.adapters.kube import Connection
from shared.adapters.kube.discovery import kinds_in
from shared.adapters.kube.paths import root_of
from shared.api.manifest import ReadOnly, name_of
from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases.demands import demanded
from shared.kinds import Kind, Watch

MOST: Final = 64
"""Limit of kinds that are watched; changes of further ones are found by the audit."""
REFUSED_PAUSE_SECONDS: Final = 300.0
"""Between two attempts to watch a kind that is not served, or that we may not watch."""
CRD_SETTLE_PAUSES_SECONDS: Final = (0.1, 0.5, 2.0, 10.0)
"""After a definition changed: a kind is served some time after its CRD is established."""
SELECTOR: Final = f"{names.V1_MANAGED_BY}={names.V1_MANAGER}"
_Demand: TypeAlias = tuple[str, str]
"""apiVersion and kind."""
_Deliver: TypeAlias = Callable[[Sequence[Event]], Awaitable[None]]
log = structlog.get_logger()


@dataclass(slots=True)
class Means:
    """The dependencies of a watch."""

    session: aiohttp.ClientSession
    connection: Connection
    outage: Outage
    skips: Skips
    seconds: int
    restored: Restored


@dataclass(slots=True)
class _DemandWatch:
    """The watch of one kind."""

    task: asyncio.Task[None]
    defined: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a definition of its group changed."""
    watch: KindWatch[Event] | None = None


class Demands:
    """The kinds that revisions demand, each watched once."""

    def __init__(self, means: Means, deliver: _Deliver) -> None:
        self._means = means
        self._deliver = deliver
        self._by_revision: dict[str, frozenset[_Demand]] = {}
        self._watches: dict[_Demand, _DemandWatch] = {}
        self._health = WatchHealth()

    @property
    def watched(self) -> frozenset[_Demand]:
        """The kinds that are watched, or awaited until they are served."""
        return frozenset(self._watches)

    def put(self, manifest: ReadOnly) -> None:
        """A revision, as it is now."""
        found = demanded(ClusterObjectSet(manifest))
        if found != self._by_revision.get(name_of(manifest), frozenset()):
            self._by_revision[name_of(manifest)] = found
            self._adjust()

    def keep(self, listed: ListedKeys) -> None:
        """Only these revisions are left."""
        gone = self._by_revision.keys() - {name for _, name in listed}
        for name in gone:
            del self._by_revision[name]
        if gone:
            self._adjust()

    def drop(self, key: Key) -> None:
        """A revision is gone."""
        if self._by_revision.pop(key[1], None):
            self._adjust()

    def retry(self, definitions: Iterable[str]) -> None:
        """Definitions of these names changed."""
        groups = {name.partition(".")[2] for name in definitions}
        for (api_version, _), entry in self._watches.items():
            if api_version.rpartition("/")[0] in groups:
                entry.defined.set()
                if entry.watch:
                    entry.watch.retry_soon()

    def _adjust(self) -> None:
        desired = sorted(set().union(*self._by_revision.values()))
        if len(desired) > MOST:
            log.warning("too_many_kinds_demanded", kinds=len(desired), watched=MOST)
        for demand in self._watches.keys() - set(desired[:MOST]):
            self._watches.pop(demand).task.cancel()
        for demand in desired[:MOST]:
            if demand not in self._watches:
                task = asyncio.get_running_loop().create_task(self._follow(demand), name="/".join(demand))
                self._watches[demand] = _DemandWatch(task)
                task.add_done_callback(partial(self._ended, demand))

    def _ended(self, demand: _Demand, task: asyncio.Task[None]) -> None:
        """A watch that an error ended begins again, after a pause."""
        if task.cancelled() or (error := task.exception()) is None:
            return
        log.error("watch_lost", task=task.get_name(), exc_info=error)
        if (entry := self._watches.get(demand)) is not None and entry.task is task:
            del self._watches[demand]
            task.get_loop().call_later(REFUSED_PAUSE_SECONDS, self._adjust)

    async def _follow(self, demand: _Demand) -> None:
        entry, pauses = self._watches[demand], iter(CRD_SETTLE_PAUSES_SECONDS)
        while (kind := await self._find(demand)) is None:
            try:
                await asyncio.wait_for(entry.defined.wait(), next(pauses, REFUSED_PAUSE_SECONDS))
            except TimeoutError:
                continue
            entry.defined.clear()
            pauses = iter(CRD_SETTLE_PAUSES_SECONDS)
        means = self._means
        stream = Stream(means.session, means.connection, kind, Watch(), selector=SELECTOR)
        known = KnownObjects(kind, means.connection.origin)
        watch = KindWatch(
            stream, Guarded(Translated(known, _renamed), kind, means.skips), self._deliver,
            health=self._health, seconds=means.seconds, outage=means.outage, longest=REFUSED_PAUSE_SECONDS,
            judge=Judge(known, stream.version_of, means.restored),
        )  # fmt: skip
        entry.watch = watch
        log.info("watch_begins", kind=watch.name)
        await watch.run()

    async def _find(self, demand: _Demand) -> Kind | None:
        """The kind; None while the API server does not list it."""
        means = self._means
        url = means.connection.server + root_of(demand[0])
        try:
            async with means.session.get(url, **request_options(means.connection)) as response:
                listed = orjson.loads(await response.read()) if response.status == 200 else {}
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
            return None
        return kinds_in(demand[0], listed).get(demand[1])


def _renamed(found: Sequence[Event]) -> Sequence[Event]:
    """Events that say that an object of a revision changed, whatever its kind is."""
    return tuple(replace(one, type=names.OBJECT_CHANGED) for one in found)
