"""`olmf run catalogs`: serves the ClusterCatalogs over HTTP, until it is ended."""

from __future__ import annotations

import asyncio
import signal
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp

from eventing.catalogs.served_catalogs import ServedCatalogs
from eventing.watch.kind_watch import KindWatch
from eventing.watch.stream import Stream
from eventing.watch.watch_health import WatchHealth
from shared.adapters.catalog_api import web
from shared.adapters.kube import Connection
from shared.kinds import CLUSTER_CATALOG, Watch

_WATCH_SECONDS: Final = 300


@dataclass(frozen=True, slots=True)
class Place:
    """Where to serve, and with which certificate."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None

    def trust(self) -> ssl.SSLContext | None:
        """TLS with the certificate; None without one. OSError when it cannot be read."""
        if self.certificate is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(self.certificate, self.key)
        return context


def run(place: Place, connection: Connection, catalogs: ServedCatalogs, on_ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; `on_ready` gets the address once it listens. PortTakenError, OSError."""

    async def until_ended() -> None:
        ended = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        await serve(place, connection, catalogs, on_ready=on_ready, ended=ended)

    asyncio.run(until_ended())


async def serve(
    place: Place,
    connection: Connection,
    catalogs: ServedCatalogs,
    *,
    on_ready: Callable[[str], None],
    ended: asyncio.Event,
) -> None:
    """Serve until `ended`. It listens once all ClusterCatalogs are known: before, a 404 would be a guess."""
    health = WatchHealth()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session, asyncio.TaskGroup() as tasks:
        stream = Stream(session, connection, CLUSTER_CATALOG, Watch(is_whole=True))
        watch: KindWatch[str] = KindWatch(stream, catalogs, catalogs.deliver, health=health, seconds=_WATCH_SECONDS)
        working = [tasks.create_task(watch.run()), tasks.create_task(catalogs.run())]
        known, over = asyncio.create_task(health.complete.wait()), asyncio.create_task(ended.wait())
        await asyncio.wait({known, over}, return_when=asyncio.FIRST_COMPLETED)
        if known.done():
            with web.running(catalogs, place.host, place.port, trust=place.trust()) as port:
                scheme = "https" if place.certificate else "http"
                on_ready(f"{scheme}://{place.host or '127.0.0.1'}:{port}")
                await over
        for task in (*working, known, over):
            task.cancel()
