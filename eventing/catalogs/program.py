"""`olmf run catalogs`: serves ClusterCatalogs over HTTP and CatalogSources over gRPC, until it is ended."""

from __future__ import annotations

import asyncio
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Final

import aiohttp
import structlog

from eventing.catalogs.changing_certificate import ChangingCertificate, PairFiles
from eventing.catalogs.request_metrics import RequestMetrics
from eventing.catalogs.served_catalogs import ServedCatalogs
from eventing.catalogs.served_sources import ServedSources
from eventing.catalogs.tls_profile import TlsProfile
from eventing.watch.kept import kept
from eventing.watch.stream import Stream
from eventing.watch.watch_health import WatchHealth
from shared.adapters import prompt_server
from shared.adapters.catalog_api import many, web
from shared.adapters.catalog_api.graphql.queries import Queries
from shared.adapters.kube import Connection
from shared.adapters.prompt_server import Asked
from shared.kinds import CATALOG_SOURCE, CLUSTER_CATALOG, Watch

_WATCH_SECONDS: Final = 300
AGAIN_SECONDS: Final = 10.0
"""Before the registry API is served again that has ended."""
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Place:
    """Where to serve, and with which certificate."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None
    registry_port: int = 0
    """That of the registry API."""
    metrics_port: int = 0
    """Where `/metrics` is; 0: nowhere."""
    profile: TlsProfile = field(default_factory=TlsProfile)

    def trust(self) -> ChangingCertificate | None:
        """TLS with the certificate; None without one. OSError when it cannot be read."""
        if self.certificate is None or self.key is None:
            return None
        return ChangingCertificate(PairFiles(self.certificate, self.key, self.profile))


@dataclass(frozen=True, slots=True)
class Content:
    """What is served."""

    catalogs: ServedCatalogs
    sources: ServedSources
    queries: Queries | None = None
    """Answers GraphQL about the catalogs; None: nobody does."""


def run(place: Place, connection: Connection, content: Content, on_ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; `on_ready` gets the address once it listens. PortTakenError, OSError."""

    async def until_ended() -> None:
        ended = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        await serve(place, connection, content, on_ready=on_ready, ended=ended)

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # each client is a file
    asyncio.run(until_ended())


async def serve(
    place: Place,
    connection: Connection,
    content: Content,
    *,
    on_ready: Callable[[str], None],
    ended: asyncio.Event,
    on_registry: Callable[[int], None] = lambda _: None,
) -> None:
    """Serve until `ended`. It listens once all ClusterCatalogs are known: before, a 404 would be a guess.

    `on_registry` gets the port of the registry API, which is open once all CatalogSources are known.
    """
    catalogs, health = content.catalogs, WatchHealth()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session, asyncio.TaskGroup() as tasks:
        stream = Stream(session, connection, CLUSTER_CATALOG, Watch(is_whole=True))
        watch = kept(stream, catalogs, catalogs.deliver, health=health, seconds=_WATCH_SECONDS)
        sources = Stream(session, connection, CATALOG_SOURCE, Watch(is_whole=True))
        registry = _serve_registry(place, sources, content.sources, on_registry)
        working = [tasks.create_task(one) for one in (watch.run(), catalogs.run(), registry)]
        known, over = asyncio.create_task(health.complete.wait()), asyncio.create_task(ended.wait())
        await asyncio.wait({known, over}, return_when=asyncio.FIRST_COMPLETED)
        if known.done():
            trust = place.trust()
            if trust is not None:
                working.append(tasks.create_task(trust.follow()))
            with _answering(place, content, trust) as port:
                on_ready(f"{'https' if trust else 'http'}://{place.host or '127.0.0.1'}:{port}")
                await over
        for task in (*working, known, over):
            task.cancel()


@contextmanager
def _answering(place: Place, content: Content, trust: ChangingCertificate | None) -> Iterator[int]:
    """The port of the HTTP API until the end of the block. OSError, PortTakenError."""
    front = trust.front if trust else None
    with (
        _metrics(place) as observe,
        web.running(
            content.catalogs, place.host, place.port, trust=front, observe=observe, queries=content.queries
        ) as port,
    ):
        yield port


@contextmanager
def _metrics(place: Place) -> Iterator[Callable[[HTTPStatus, float], None]]:
    """What notes an answer; `/metrics` is served until the end of the block. OSError."""
    metrics = RequestMetrics()
    if place.metrics_port:
        listening = prompt_server.listening(place.host, place.metrics_port)
        with prompt_server.running(listening, Asked(metrics.answer)):
            yield metrics.observe
    else:
        yield metrics.observe


async def _serve_registry(
    place: Place, stream: Stream, sources: ServedSources, on_registry: Callable[[int], None]
) -> None:
    """Answer the registry API until cancelled. When it ends it is begun anew; meanwhile the rest is served on."""
    while True:
        try:
            await _answer_registry(place, stream, sources, on_registry)
        except Exception:  # why: whatever its port or its watch met with, ClusterCatalogs are served
            log.exception("registry_api_ended", again_in_seconds=AGAIN_SECONDS)
        await asyncio.sleep(AGAIN_SECONDS)


async def _answer_registry(
    place: Place, stream: Stream, sources: ServedSources, on_registry: Callable[[int], None]
) -> None:
    """Answer until cancelled, once all CatalogSources are known. ExceptionGroup."""
    health = WatchHealth()
    watch = kept(stream, sources, sources.deliver, health=health, seconds=_WATCH_SECONDS)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(watch.run())
        await health.complete.wait()
        with many.running(sources, f"{place.host or '[::]'}:{place.registry_port}") as port:
            log.info("registry_api_served", port=port)
            on_registry(port)
            await asyncio.Event().wait()
