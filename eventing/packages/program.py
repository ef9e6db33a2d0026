"""`olmf run packages`: serves PackageManifests over TLS, until it is ended."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import ssl
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import aiohttp
import structlog
from aiohttp import web

from eventing.metrics.listener import BACKLOG
from eventing.packages.access import Access
from eventing.packages.app import Packages
from eventing.packages.catalog_follower import CatalogFollower, Open
from eventing.packages.package_cache import PackageCache
from eventing.packages.requester import CONFIG_MAP, FrontProxy
from eventing.watch.kept import kept
from eventing.watch.stream import Stream
from eventing.watch.watch_health import WatchHealth
from shared import kinds
from shared.adapters.kube import ApiError, KubeClient
from shared.adapters.tls import as_ascii, tls_context

POLL_SECONDS: Final = 30.0
"""Between two looks at the certificate, and at the CA of the front proxy."""
_WATCH_SECONDS: Final = 300
_GRACE_SECONDS: Final = 5.0
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Serving:
    """Where and as whom to serve."""

    host: str
    port: int
    certificate: Path
    key: Path
    global_namespace: str


@dataclass(frozen=True, slots=True)
class _Trust:
    """What the listener is made of: when it changes, there is a new one."""

    certificate: bytes
    key: bytes
    proxy: FrontProxy


def run(serving: Serving, client: KubeClient, open_: Open, on_ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; `on_ready` gets the address once it listens. OSError without a certificate."""

    async def until_ended() -> None:
        ended = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        await serve(serving, client, open_, on_ready=on_ready, ended=ended)

    asyncio.run(until_ended())


async def serve(
    serving: Serving, client: KubeClient, open_: Open, *, on_ready: Callable[[str], None], ended: asyncio.Event
) -> None:
    """Serve until `ended`."""
    cache = PackageCache()
    follower = CatalogFollower(cache, open_, serving.global_namespace)
    access = Access(partial(client.request, "POST"))
    packages = Packages(cache, access, follower, serving.global_namespace)
    runner = web.AppRunner(  # why: a watch whose client is gone ends at once, and counts for its user no longer
        packages.app(), access_log=None, shutdown_timeout=_GRACE_SECONDS, handler_cancellation=True
    )
    await runner.setup()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session, asyncio.TaskGroup() as tasks:
        stream = Stream(session, client.connection, kinds.CATALOG_SOURCE, kinds.Watch(is_whole=True))
        health = WatchHealth()
        catalogs = kept(stream, follower, follower.deliver, health=health, seconds=_WATCH_SECONDS)
        running = [
            tasks.create_task(catalogs.run()), tasks.create_task(follower.run(health.complete)),
            tasks.create_task(_listen(runner, packages, serving, client, on_ready=on_ready)),
        ]  # fmt: skip
        await ended.wait()
        for task in running:
            task.cancel()
    await runner.cleanup()


async def _listen(
    runner: web.AppRunner, packages: Packages, serving: Serving, client: KubeClient, *, on_ready: Callable[[str], None]
) -> None:
    """Listen; anew, before the old listener ends, whenever the certificate or the CA of the front proxy changed."""
    present: _Trust | None = None
    site: web.TCPSite | None = None
    port = serving.port
    while True:
        desired = await asyncio.to_thread(_trust, serving, client, present)
        context = _context(desired) if desired != present else None
        if context is not None:
            packages.front_proxy = desired.proxy
            former, site = (
                site,
                web.TCPSite(runner, serving.host, port, ssl_context=context, backlog=BACKLOG, reuse_port=True),
            )
            await site.start()
            if former is not None:
                await former.stop()
            port, is_first, present = int(runner.addresses[0][1]), present is None, desired
            log.info("listening", port=port, knows_front_proxy=bool(desired.proxy.authority))
            if is_first:
                await packages.follower.filled.wait()
                on_ready(f"https://{serving.host or '127.0.0.1'}:{port}")
        packages.flaw = desired.proxy.flaw(time.time())
        await packages.access.try_out()
        await asyncio.sleep(POLL_SECONDS)


def _trust(serving: Serving, client: KubeClient, present: _Trust | None) -> _Trust:
    """What is there now; while the API server does not say, what it said last."""
    proxy = present.proxy if present else FrontProxy()
    namespace, name = CONFIG_MAP
    try:
        proxy = FrontProxy.of(client.get(kinds.CONFIG_MAP.ref(name, namespace)) or {})
    except ApiError as error:
        log.warning("front_proxy_unknown", error=str(error))
    return _Trust(serving.certificate.read_bytes(), serving.key.read_bytes(), proxy)


def _context(trust: _Trust) -> ssl.SSLContext | None:
    """TLS with the certificate, None for half a pair; a client's is verified by the CA of the front proxy alone."""
    context = tls_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    with tempfile.TemporaryDirectory() as folder:  # why: the library loads a key from files alone
        certificate, key = Path(folder, "tls.crt"), Path(folder, "tls.key")
        certificate.write_bytes(trust.certificate)
        key.touch(mode=0o600)
        key.write_bytes(trust.key)
        try:
            context.load_cert_chain(certificate, key)
        except ssl.SSLError as error:  # why: a Secret is mounted file by file, so it is looked at again
            log.warning("certificate_unusable", error=str(error))
            return None
    if trust.proxy.authority:
        with contextlib.suppress(ssl.SSLError):  # why: a CA that cannot be read is no reason to serve nobody
            context.load_verify_locations(cadata=as_ascii(trust.proxy.authority))
            context.verify_mode = ssl.CERT_OPTIONAL
    return context
