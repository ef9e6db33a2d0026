"""The probes of the watcher and its metrics, over HTTP."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import orjson
from aiohttp import web

from eventing.metrics.exposition import CONTENT_TYPE
from eventing.watch.pulse import Pulse


async def serve_health(
    pulse: Pulse,
    listening: socket.socket,
    metrics: Callable[[], Awaitable[str]],
    *,
    has_redis: Callable[[], bool] = lambda: True,
) -> web.AppRunner:
    """Serve `/livez`, `/readyz` and `/metrics`.

    `/livez` is 503 when a watch is stale or events have not been taken for too long; `/readyz` is 503 before the first
    lists were delivered, while events are not taken, and without Redis.
    """

    async def livez(_: web.Request) -> web.Response:
        stale = pulse.stale()
        facts = {"stale": stale, "ages": pulse.ages(), "failing": pulse.failing()}
        return _answer(not stale and not pulse.is_dead, facts)

    async def readyz(_: web.Request) -> web.Response:
        is_reachable = await asyncio.to_thread(has_redis)
        facts = {"waiting": sorted(pulse.waiting), "failing": pulse.failing(), "redis": is_reachable}
        return _answer(pulse.is_ready and is_reachable, facts)

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
