"""Asks the fork server for processes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

LOST = -1
"""Exit code of a process whose fork server died."""


class Launcher:
    """Starts `olmf` processes; the fork server is started when first needed, and again when it died."""

    def __init__(self) -> None:
        self._server: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._ends: dict[str, asyncio.Future[int]] = {}
        self._starting = asyncio.Lock()

    async def warm_up(self) -> asyncio.subprocess.Process:
        """The running fork server."""
        async with self._starting:
            if self._server is None or self._server.returncode is not None:
                self._server = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "eventing.kubelet.fork_server",
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    env=without_ties(os.environ),
                )
                self._listening = asyncio.create_task(self._listen(self._server))
            return self._server

    async def run(self, name: str, arguments: Sequence[str], environ: Mapping[str, str], log: Path) -> int:
        """Exit code of one process; when cancelled, the process is killed. `name` is unique among the running."""
        server = await self.warm_up()
        end: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._ends[name] = end
        request = {"run": name, "arguments": list(arguments), "environ": dict(environ), "log": str(log)}
        try:
            await self._say(server, request)
            return await end
        finally:
            del self._ends[name]
            if not end.done() or end.cancelled():
                await self._say(server, {"kill": name})

    async def close(self) -> None:
        """End the fork server and, with it, every process."""
        if self._server is not None and self._server.returncode is None:
            assert self._server.stdin is not None  # noqa: S101  # it was asked for
            self._server.stdin.close()
            await self._server.wait()
        if self._listening is not None:
            await self._listening

    async def _say(self, server: asyncio.subprocess.Process, request: Mapping[str, object]) -> None:
        assert server.stdin is not None  # noqa: S101  # it was asked for
        try:
            server.stdin.write(json.dumps(request).encode() + b"\n")
            await server.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            return  # why: `_listen` sees the end of the fork server and tells all who wait

    async def _listen(self, server: asyncio.subprocess.Process) -> None:
        assert server.stdout is not None  # noqa: S101  # it was asked for
        async for line in server.stdout:
            answer = json.loads(line)
            end = self._ends.get(answer["ended"])
            if end is not None and not end.done():
                end.set_result(answer["code"])
        await server.wait()
        for end in self._ends.values():
            if not end.done():
                end.set_result(LOST)


def without_ties(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what ties a program to its supervisor: the processes here are tied to us."""
    return {name: value for name, value in environ.items() if name not in ("OLMF_TIED", "OLMF_READY_FILE")}
