"""A served folder that changed is told to the endpoint, once."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from aiohttp import web

from eventing.local.installation import notify_on_change
from shared.kinds import CATALOG_SOURCE

LOCAL = CATALOG_SOURCE.ref("local", "olm")


async def test_a_change_enqueues_once(tmp_path: Path) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def hear(request: web.Request) -> web.Response:
        await heard.put(f"{request.headers['ce-type']} {request.headers['ce-kind']} {request.headers['ce-name']}")
        return web.Response(status=202)

    app = web.Application()
    app.router.add_post("/", hear)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    task = asyncio.create_task(notify_on_change({LOCAL: (tmp_path,)}, f"http://{host}:{port}", poll_seconds=0.02))
    try:
        assert await changed_until_heard(tmp_path, heard) == "io.olmf.resync.requested CatalogSource local"
        await asyncio.sleep(0.2)
        assert heard.empty()
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await runner.cleanup()


async def changed_until_heard(folder: Path, heard: asyncio.Queue[str]) -> str:
    """Change the folder; once more where the change came before the first look at the folder, which nobody sees."""
    for number in range(10):
        ready = folder.with_name(f"{folder.name}-{number}")
        ready.write_text("x")
        ready.rename(folder / f"{number}.yaml")  # in one step: a file that comes empty is a change of its own
        with contextlib.suppress(TimeoutError):
            return await asyncio.wait_for(heard.get(), 5)
    raise AssertionError("no change was heard of")
