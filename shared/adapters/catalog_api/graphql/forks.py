"""Runs each query in a process of its own, which is forked from one that the first query starts."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from typing import Final

import msgspec

from shared.adapters.catalog_api.graphql.request import ANSWERED, BEGUN, Request

_SERVER: Final = "shared.adapters.catalog_api.graphql.fork_server"
_ATTEMPTS: Final = 2
"""The server may end while a query is handed over, because it was idle."""
_PIECE: Final = 64 * 1024
_SHORTEST: Final = 1e-6
"""Seconds; a timeout of none would mean: do not wait at all."""


class QueryFailed(RuntimeError):
    """A query has no answer; the message is the reason."""


class DeadlineExceeded(RuntimeError):
    """A query has no answer within its time."""


class _NobodyCame(DeadlineExceeded):
    """Nobody has begun with it: the server hangs."""


class Forks:
    """The processes of queries. Threads may use it at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None

    def run(self, request: Request) -> bytes:
        """The answer. QueryFailed, DeadlineExceeded, OSError."""
        deadline = time.monotonic() + request.seconds
        for _ in range(_ATTEMPTS):
            with self._connected() as client:
                try:
                    content = _exchanged(client, msgspec.json.encode(request), deadline)
                except _NobodyCame:
                    self.close()
                    raise
                if content:
                    return _result(content)
        raise QueryFailed("no process could be forked for it")

    def close(self) -> None:
        """End the server; the next query starts another."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._requests is not None:
            self._requests.close()
        if self._server is not None:
            self._server.kill()  # why: queries that run are processes of their own
            self._server.wait()
        self._server = self._requests = None

    def _connected(self) -> socket.socket:
        """A connection to a fork, or to nobody where the server ends just now."""
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            try:
                socket.send_fds(self._running(), [b"q"], [theirs.fileno()])
            except (BrokenPipeError, ConnectionResetError):  # it has ended
                self._end()
                socket.send_fds(self._running(), [b"q"], [theirs.fileno()])
        return ours

    def _running(self) -> socket.socket:
        if self._requests is None:
            self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                command = (sys.executable, "-m", _SERVER, str(theirs.fileno()))
                self._server = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        return self._requests


def _exchanged(client: socket.socket, content: bytes, deadline: float) -> bytes:
    """Everything that comes back; nothing if nobody was there. DeadlineExceeded."""
    received = bytearray()
    try:
        client.settimeout(max(deadline - time.monotonic(), _SHORTEST))
        client.sendall(content)
        client.shutdown(socket.SHUT_WR)
        while piece := client.recv(_PIECE):
            received += piece
            client.settimeout(max(deadline - time.monotonic(), _SHORTEST))
    except TimeoutError as error:
        raise (DeadlineExceeded if received else _NobodyCame) from error
    except (BrokenPipeError, ConnectionResetError):
        pass  # what came before counts
    return bytes(received)


def _result(content: bytes) -> bytes:
    kind, result = content[len(BEGUN) :][:1], content[len(BEGUN) + 1 :]
    if kind != ANSWERED:
        raise QueryFailed(result.decode(errors="replace") or "its process ended without an answer")
    return result
