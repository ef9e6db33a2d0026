"""Tracks when each watch last received data from the API server, and serves the health probes."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import orjson
from aiohttp import web

from eventing.metrics.exposition import CONTENT_TYPE

STALE_SECONDS = 180.0
"""Age at which a watch counts as dead: twice `stream.SILENCE_SECONDS`."""


@dataclass(slots=True)
class Pulse:
    """Heartbeats by name of the watch."""

    clock: Callable[[], float] = time.monotonic
    bound: float = STALE_SECONDS
    beats: dict[str, float] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)
    """Watches whose first list is not delivered yet."""
    complete: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first list of every watch is delivered, or its kind is known not to be served."""

    def expect(self, name: str) -> None:
        """Register a watch that begins."""
        self.beats[name] = self.clock()
        self.waiting.add(name)

    def beat(self, name: str) -> None:
        """Record that the watch received data from the API server."""
        self.beats[name] = self.clock()

    def settled(self, name: str) -> None:
        """Record that the first list of a watch was delivered (or its kind is not served)."""
        self.waiting.discard(name)
        if not self.waiting:
            self.complete.set()

    def ages(self) -> dict[str, float]:
        """Seconds since each watch received data from the API server."""
        now = self.clock()
        return {name: round(now - beat, 1) for name, beat in sorted(self.beats.items())}

    def stale(self) -> dict[str, float]:
        """The watches whose age exceeds the limit, with their ages in seconds."""
        return {name: age for name, age in self.ages().items() if age > self.bound}


async def serve_health(pulse: Pulse, listening: socket.socket, metrics: Callable[[], Awaitable[str]]) -> web.AppRunner:
    """Serve `/livez` (503 when a watch is stale), `/readyz` (503 until every first list) and `/metrics`."""

    async def livez(_: web.Request) -> web.Response:
        stale = pulse.stale()
        return _answer(not stale, {"stale": stale, "ages": pulse.ages()})

    async def readyz(_: web.Request) -> web.Response:
        return _answer(pulse.complete.is_set(), {"waiting": sorted(pulse.waiting)})

    async def tell(_: web.Request) -> web.Response:
        return web.Response(text=await metrics(), headers={"Content-Type": CONTENT_TYPE})

    app = web.Application()
    app.router.add_get("/livez", livez)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", tell)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.SockSite(runner, listening).start()
    return runner


def _answer(is_well: bool, facts: dict[str, object]) -> web.Response:
    return web.Response(
        status=200 if is_well else 503, body=orjson.dumps({"ok": is_well, **facts}), content_type="application/json"
    )
