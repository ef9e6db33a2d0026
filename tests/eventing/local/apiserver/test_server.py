"""Connections to a sandbox."""

from __future__ import annotations

import asyncio
from pathlib import Path

from aiohttp import web

from eventing.local.apiserver.server import Settings, open_world, runner_of
from tests.kit.waiting import PATIENCE_SECONDS


async def _tasks_after_a_watch(folder: Path) -> int:
    """How many tasks are left after a client has opened a watch and gone."""
    world = open_world(Settings(folder, is_kept=False))
    runner = runner_of(world)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    reader, writer = await asyncio.open_connection(*runner.addresses[0])
    path = f"/token/{world.token}/api/v1/configmaps?watch=1&resourceVersion=1"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: sandbox\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    writer.close()
    served = asyncio.all_tasks() - {asyncio.current_task()}
    assert served
    _, pending = await asyncio.wait(served, timeout=PATIENCE_SECONDS)
    await runner.cleanup()
    return len(pending)


def test_a_watch_ends_when_its_client_has_gone(tmp_path: Path) -> None:
    assert asyncio.run(_tasks_after_a_watch(tmp_path)) == 0
