"""Starts processes by requests to the fork server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eventing.local.processes.forked_server import ForkedServer
from eventing.local.processes.parent_watch import without_parent_watch

_Server = asyncio.subprocess.Process | ForkedServer

LOST = -1
"""Exit code of a process whose fork server died; its pid, too, where it died before it forked."""


@dataclass(frozen=True, slots=True)
class Forked:
    """A started process; the future `ended` receives its exit code. Await it through `asyncio.shield`."""

    name: str
    pid: int
    ended: asyncio.Future[int]


class Launcher:
    """Starts `olmf` processes; the fork server is started when first needed, and again when it has died."""

    def __init__(self, *modules: str) -> None:
        """`modules` are the modules that the fork server imports before it forks; the first has `main`."""
        self._modules = modules
        self._server: _Server | None = None
        self._listening: asyncio.Task[None] | None = None
        self._starts: dict[str, asyncio.Future[int]] = {}
        """Pids of requested processes, by name."""
        self._ends: dict[str, asyncio.Future[int]] = {}
        """Futures for the exit codes of requested processes that have not ended, by name."""
        self._starting = asyncio.Lock()

    async def begin(self) -> None:
        """Fork the fork server from this process, or start one where threads may hold a lock that a fork would keep."""
        async with self._starting:
            if self._server is None and threading.active_count() == 1:
                self._serve_with(await ForkedServer.of(*self._modules))
        await self.warm_up()

    async def warm_up(self) -> _Server:
        """Start the fork server if it does not run; returns it."""
        async with self._starting:
            if self._server is None or self._server.returncode is not None:
                if self._listening is not None:
                    await self._listening  # why: at its end it reports all processes as lost
                server = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "eventing.local.processes", *self._modules),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    env=without_parent_watch(os.environ),
                )
                self._serve_with(server)
            assert self._server is not None  # noqa: S101  # it was started
            return self._server

    def _serve_with(self, server: _Server) -> None:
        self._server = server
        self._listening = asyncio.create_task(self._listen(server))

    async def start(self, name: str, arguments: Sequence[str], environ: Mapping[str, str], log: Path) -> Forked:
        """Start one process; `name` is unique among the running processes."""
        server = await self.warm_up()
        loop = asyncio.get_running_loop()
        start = self._starts[name] = loop.create_future()
        end = self._ends[name] = loop.create_future()
        request = {"run": name, "arguments": list(arguments), "environ": dict(environ), "log": str(log)}
        await self._send(server, request)
        return Forked(name, await start, end)

    async def run(self, name: str, arguments: Sequence[str], environ: Mapping[str, str], log: Path) -> int:
        """Run one process and return its exit code; on cancellation it is killed. `name` is never used again."""
        try:
            process = await self.start(name, arguments, environ, log)
            return await asyncio.shield(process.ended)
        except asyncio.CancelledError:
            await self.signal(name, signal.SIGKILL)
            raise

    async def stop(self, process: Forked, patience: float) -> None:
        """Send SIGTERM, after `patience` seconds SIGKILL, and wait until the process has ended."""
        await self.signal(process.name, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(process.ended), patience)
            return
        await self.signal(process.name, signal.SIGKILL)
        await asyncio.shield(process.ended)

    async def signal(self, name: str, number: int) -> None:
        """Send a signal to a process, if it runs; SIGKILL is also sent to all processes that it started."""
        if name in self._ends and self._server is not None:
            await self._send(self._server, {"signal": int(number), "to": name})

    async def close(self) -> None:
        """End the fork server and, with it, every process."""
        if self._server is not None and self._server.returncode is None:
            assert self._server.stdin is not None  # noqa: S101  # it was asked for
            self._server.stdin.write_eof()
        if self._listening is not None:
            await self._listening

    async def _send(self, server: _Server, request: Mapping[str, object]) -> None:
        assert server.stdin is not None  # noqa: S101  # it was asked for
        try:
            server.stdin.write(json.dumps(request).encode() + b"\n")
            await server.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            return  # why: `_listen` sees the end of the fork server and wakes all waiters

    async def _listen(self, server: _Server) -> None:
        assert server.stdout is not None  # noqa: S101  # it was asked for
        with contextlib.suppress(ConnectionResetError):  # it was killed before it had read everything
            async for line in server.stdout:
                answer = json.loads(line)
                if name := answer.get("started"):
                    _settle(self._starts.pop(name), answer["pid"])
                else:
                    _settle(self._ends.pop(answer["ended"]), answer["code"])
        await server.wait()
        for waiting in (self._starts, self._ends):
            for future in waiting.values():
                _settle(future, LOST)
            waiting.clear()


def _settle(future: asyncio.Future[int], value: int) -> None:
    if not future.done():
        future.set_result(value)
