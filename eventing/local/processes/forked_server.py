"""A fork server that is itself a fork of the process that uses it, which saves the start of an interpreter."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from typing import Self

from eventing.local.processes import server
from eventing.local.processes.forking import fork
from eventing.local.processes.parent_watch import without_parent_watch

_STDERR = 2


class ForkedServer:
    """Its process, as `asyncio.subprocess.Process` shows one."""

    def __init__(self, pid: int, stdin: asyncio.StreamWriter, stdout: asyncio.StreamReader) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.returncode: int | None = None

    @classmethod
    async def of(cls, *modules: str) -> Self:
        """Fork it; this process has no other thread. It imports meanwhile what is missing."""
        ours, theirs = socket.socketpair()
        with theirs:
            streams = (theirs.fileno(), theirs.fileno(), _STDERR)
            environ = without_parent_watch(os.environ)
            pid = fork(lambda: server.serve(modules), streams, environ, closes=[ours.fileno()])
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        return cls(pid, writer, reader)

    def kill(self) -> None:
        """Kill it, if it runs."""
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for its end, which is near when its output has ended."""
        if self.returncode is None:
            _, status = await asyncio.to_thread(os.waitpid, self.pid, 0)
            self.returncode = os.waitstatus_to_exitcode(status)
            self.stdin.close()
        return self.returncode
