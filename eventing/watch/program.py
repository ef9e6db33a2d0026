"""The process of the watcher: one task per kind, one sink, one health port."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeAlias
from uuid import uuid4

import aiohttp
import orjson
import structlog
from aiohttp import web

from eventing.events.event import Event
from eventing.metrics import work as work_metrics
from eventing.metrics.exposition import Exposition, Series, exposition
from eventing.metrics.listener import address_of, listener
from eventing.watch.certificates import certificates
from eventing.watch.config_maps import AwaitedConfigMaps
from eventing.watch.connections import Connections, Dial
from eventing.watch.demands import Demands, Means
from eventing.watch.following import Follower, Following
from eventing.watch.history import EventHistory
from eventing.watch.joint_sink import JointSink, is_away
from eventing.watch.kind_watch import KindWatch, Observer
from eventing.watch.known_objects import KnownObjects
from eventing.watch.namespaced import Key
from eventing.watch.object_metrics import COUNTED, Counting, ObjectMetrics
from eventing.watch.older_lists import Judge, Restored
from eventing.watch.outage import Outage
from eventing.watch.skips import Guarded, Skips
from eventing.watch.stream import Stream, request_options
from eventing.watch.watch_health import WatchHealth
from eventing.workqueue import UNREACHABLE, answering
from shared import names
from shared.adapters.kube import Connection, connect
from shared.adapters.kube.answers import Changes
from shared.config import Settings
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_OBJECT_SET,
    CLUSTER_SERVICE_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    OLM_CONFIG,
    WATCHED,
    Kind,
    Watch,
)
from shared.telemetry import Metric

Sink: TypeAlias = Callable[[Sequence[Event]], None]
Ready: TypeAlias = Callable[[str, str], None]
"""Called once with the address of the health port and the URL of its probe."""

LONGEST_SINK_PAUSE_SECONDS = 5.0
log = structlog.get_logger()


class Watcher:
    """Watches kinds of one API server and passes each change to the sink, in order, at least once."""

    def __init__(
        self, connection: Connection, sink: Sink, *,
        kinds: Sequence[Kind] = WATCHED, seconds: int = 300, work: Callable[[], Mapping[Series, float]] = dict,
        dial: Dial | None = None, changes: Changes | None = None,
    ) -> None:  # fmt: skip
        """`work` returns the metrics of queue and runs for `/metrics`; without `dial` no catalog server is followed.

        `changes` is what events told before; without it nothing is known of other processes.
        """
        self._changes = changes
        self._connections = Connections(dial, self.deliver) if dial else None
        self._connection = connection
        self._work = work
        self._kinds = kinds
        self._seconds = seconds
        self._watches: list[KindWatch[Event]] = []
        self._demands: Demands | None = None
        self._config_maps: AwaitedConfigMaps | None = None
        # why: one thread, because the sink blocks on Redis and events are passed on in order
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sink")
        self._joint = JointSink(sink, self._thread)
        self.health = WatchHealth()
        self.object_metrics = ObjectMetrics()
        self.skips = Skips()
        self.restored = Restored()

    async def run(self, on_ready: Callable[[], None] | None = None) -> None:
        """Watch until cancelled; `on_ready` is called once everything that exists was delivered."""
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector, auto_decompress=True) as session:
            outage = Outage(partial(_answers, session, self._connection))
            means = Means(session, self._connection, outage, self.skips, self._seconds, self.restored)
            self._demands, self._config_maps = Demands(means, self.deliver), AwaitedConfigMaps(means, self.deliver)
            self._watches += [self._watch(kind, means) for kind in self._kinds]
            try:
                async with asyncio.TaskGroup() as tasks:
                    secrets = [certificates(means, self.deliver)] if CLUSTER_SERVICE_VERSION in self._kinds else []
                    for watch in (*self._watches, *secrets):
                        tasks.create_task(watch.run(), name=watch.name)
                    await self.health.complete.wait()
                    log.info("watch_ready", kinds=len(self._watches))
                    if on_ready:
                        on_ready()
            finally:
                if self._connections:
                    self._connections.keep(set())
                self._demands.keep(set())
                self._config_maps.keep(set())
                self._thread.shutdown(wait=False, cancel_futures=True)

    def _watch(self, kind: Kind, means: Means) -> KindWatch[Event]:
        known = KnownObjects(kind, self._connection.origin)
        stream = Stream(means.session, self._connection, kind, kind.watch or Watch())
        return KindWatch(
            stream, Guarded(self._observer(kind, known), kind, self.skips), self.deliver,
            health=self.health, seconds=self._seconds, outage=means.outage,
            history=EventHistory(self._changes, kind, self._thread) if self._changes else None,
            judge=Judge(known, stream.version_of, means.restored),
        )  # fmt: skip

    @property
    def demanded(self) -> frozenset[tuple[str, str]]:
        """(apiVersion, kind) of what is watched for the sake of revisions alone."""
        return self._demands.watched if self._demands else frozenset()

    @property
    def awaited_config_maps(self) -> frozenset[Key]:
        """Namespaces and names of the ConfigMaps that are watched until they are there."""
        return self._config_maps.watched if self._config_maps else frozenset()

    def _observer(self, kind: Kind, known: KnownObjects) -> Observer[Event]:
        observer: Observer[Event] = known
        for follower in self._followers(kind):
            observer = Following(observer, follower, kind, self.skips)
        return observer

    def _followers(self, kind: Kind) -> Iterator[Follower]:
        if kind in COUNTED:
            yield Counting(kind, self.object_metrics)
        if kind == CLUSTER_OBJECT_SET and self._demands:
            yield self._demands
        if kind == CATALOG_SOURCE:
            yield from filter(None, (self._connections, self._config_maps))

    async def report_start(self) -> None:
        """Once everything that exists was delivered, have looked for what is left of what does not exist any more."""
        await self.health.complete.wait()
        begin = Event(f"watch-{uuid4()}", names.WATCH_BEGUN, self._connection.origin, OLM_CONFIG.ref("cluster"))
        await self.deliver([begin])

    async def metrics(self, accept: str = "") -> Exposition:
        """The answer of `/metrics`; neither the request to Redis nor the writing of many series must block a watch."""
        work = await asyncio.to_thread(self._work)
        silence = Metric.olmf_watch_silence_seconds
        ages = {Series(silence, (("kind", name),)): age for name, age in self.health.ages().items()}
        failing = {Series(Metric.olmf_sink_failing_seconds): self.health.failing()}
        values = {**self.object_metrics.values(), **work, **self.skips.values(), **failing, **ages}
        return await asyncio.to_thread(exposition, values, accept)

    async def deliver(self, events: Sequence[Event]) -> None:
        """Return when the sink has accepted the events; when it is away it is called again.

        Events that it cannot handle, though it is there, are skipped one by one.
        """
        if events and not await self._accepted(events):
            for event in events:
                await self._accepted([event], is_last=True)
        self._retry_watches(events)

    async def _accepted(self, events: Sequence[Event], *, is_last: bool = False) -> bool:
        """Whether the sink took the events; `is_last`: if not, they are skipped."""
        pause = 0.1
        while True:
            try:
                await self._joint.accept(events)
            except Exception as error:  # noqa: BLE001  # why: one event that cannot be handled must not stop the others
                if not is_away(error):
                    for event in events if is_last else ():
                        self._skip(event, error)
                    return False
                log.warning("sink_failed", events=len(events), error=f"{type(error).__name__}: {error}")
                self.health.refused(is_away=isinstance(error, (*UNREACHABLE, OSError)))
            else:
                self.health.accepted()
                return True
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_SINK_PAUSE_SECONDS)

    def _skip(self, event: Event, error: Exception) -> None:
        self.skips.note(event.ref.kind, str(event.ref), error)
        self.health.skipped()

    def _retry_watches(self, events: Sequence[Event]) -> None:
        definitions = {event.ref.name for event in events if event.ref.kind == CUSTOM_RESOURCE_DEFINITION.kind}
        for watch in self._watches:
            if watch.name in definitions:
                watch.retry_soon()
        if definitions and self._demands:
            self._demands.retry(definitions)


async def _answers(session: aiohttp.ClientSession, connection: Connection) -> bool:
    """Whether the API server serves: anything but a failure counts, also that this path is not for us."""
    try:
        async with session.get(f"{connection.server}/readyz", **request_options(connection)) as response:
            return response.status < 500 and response.status != 429
    except (aiohttp.ClientError, OSError, ValueError):
        return False


def run(
    settings: Settings, sink: Sink, *,
    kinds: Sequence[Kind] = WATCHED, dial: Dial | None = None, changes: Changes | None = None,
    on_ready: Ready | None = None,
) -> None:  # fmt: skip
    """Watch until SIGTERM or SIGINT.

    Events are delivered when `sink` returns. `dial` leads to servers of catalogs with an address, `changes` holds what
    earlier events delivered. `/livez`, `/readyz` and `/metrics` are on `settings.port`; `on_ready` gets the address and
    the URL of the probe once everything that exists was delivered.
    """
    work = work_metrics.reader(settings)
    connection = connect(settings.kubeconfig)
    watcher = Watcher(
        connection, sink, kinds=kinds, seconds=settings.watch_seconds, work=work, dial=dial, changes=changes
    )
    asyncio.run(_run(settings, watcher, on_ready))


async def _run(settings: Settings, watcher: Watcher, on_ready: Ready | None) -> None:
    listening = listener(settings)
    address = address_of(listening)
    has_redis = answering(settings.redis_url)
    health = await serve_health(watcher.health, listening, watcher.metrics, has_redis=has_redis)
    ready = on_ready and partial(on_ready, address, f"{address}/livez")
    watching, reporting = asyncio.create_task(watcher.run(ready)), asyncio.create_task(watcher.report_start())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, watching.cancel)
    try:
        await watching
    except asyncio.CancelledError:
        log.info("watch_ends")
    finally:
        reporting.cancel()
        await health.cleanup()


async def serve_health(
    health: WatchHealth,
    listening: socket.socket,
    metrics: Callable[[str], Awaitable[Exposition]],
    *,
    has_redis: Callable[[], bool] = lambda: True,
) -> web.AppRunner:
    """Serve `/livez`, `/readyz` and `/metrics`.

    `/livez` is 503 when a watch is stale or events have not been taken for too long; `/readyz` is 503 before the first
    lists were delivered, while events are not taken, and without Redis.
    """

    async def livez(_: web.Request) -> web.Response:
        stale = health.stale()
        facts = {"stale": stale, "ages": health.ages(), "failing": health.failing()}
        return _answer(not stale and not health.is_dead, facts)

    async def readyz(_: web.Request) -> web.Response:
        is_reachable = await asyncio.to_thread(has_redis)
        facts = {"waiting": sorted(health.waiting), "failing": health.failing(), "redis": is_reachable}
        return _answer(health.is_ready and is_reachable, facts)

    async def respond(request: web.Request) -> web.Response:
        answer = await metrics(request.headers.get("Accept", ""))
        return web.Response(text=answer.text, headers={"Content-Type": answer.content_type})

    app = web.Application()
    app.router.add_get("/livez", livez)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", respond)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.SockSite(runner, listening).start()
    return runner


def _answer(is_well: bool, facts: dict[str, object]) -> web.Response:
    return web.Response(
        status=200 if is_well else 503, body=orjson.dumps({"ok": is_well, **facts}), content_type="application/json"
    )
