"""Whether a program lives and can do its work, and a small HTTP port that says so to the kubelet.

Alive: each of its loops goes on trying, whatever answers. Ready: Redis answered a moment ago, and the API server, where
it is needed.
The port is for programs that serve nothing else. Decision: the loop that is there anyway answers HTTP. Turned down: a
command that the kubelet runs (a Python start, 0.3 s, every few seconds), a file that is touched (a command would have
to look at it), a web framework (the parent of a worker imports little, and has no thread when it forks).
"""

from __future__ import annotations

import contextlib
import json
import mmap
import select
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

REDIS, API = "Redis", "the API server"
WORKER = "a worker process"
"""Dependencies of a program."""
SWEEPER, OUTLET, WAKER = "sweeper", "outlet", "waker"
"""Loops of a program."""
STUCK_SECONDS = 300.0
"""After this time without an attempt a loop is stuck: longer than all attempts of one call to an unreachable Redis."""
UNREACHABLE_SECONDS = 15.0
"""After this time without an answer something is unreachable."""
_POLL_SECONDS = 5.0
_REQUEST_SECONDS = 0.2
_REQUEST_BYTES = 1024
_LARGEST_BODY = 4 * 1024 * 1024
_TAKEN = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


class Heartbeat:
    """When each loop last made an attempt, and each dependency last answered; in memory shared with forked children."""

    def __init__(
        self,
        needs: tuple[str, ...],
        clock: Callable[[], float] = time.monotonic,
        *,
        loops: tuple[str, ...] = (SWEEPER,),
    ) -> None:
        """`loops` are the loops of the program that run independently."""
        self._loops, self._needs = loops, needs
        self._clock = clock
        self._memory = mmap.mmap(-1, 8 * (len(loops) + len(needs)))
        for loop in loops:
            self.tries(loop)

    def tries(self, loop: str = SWEEPER) -> None:
        """Record an attempt of a loop."""
        self._set(self._loops.index(loop))

    def answered(self, need: str) -> None:
        """Record an answer of a dependency."""
        self._set(len(self._loops) + self._needs.index(need))

    def stuck(self) -> list[str]:
        """The loops without a recent attempt."""
        return [loop for place, loop in enumerate(self._loops) if self._age(place) >= STUCK_SECONDS]

    def missing(self) -> list[str]:
        """The dependencies without a recent answer."""
        return [
            need for place, need in enumerate(self._needs, len(self._loops)) if self._age(place) > UNREACHABLE_SECONDS
        ]

    def _set(self, place: int) -> None:
        struct.pack_into("d", self._memory, 8 * place, self._clock())

    def _age(self, place: int) -> float:
        (at,) = struct.unpack_from("d", self._memory, 8 * place)
        return self._clock() - at if at else float("inf")


class HealthPort:
    """Answers `/livez` and `/readyz`, one request at a time; and takes dead letters, which nobody reads, at `/lost`."""

    def __init__(
        self, listening: socket.socket, heartbeat: Heartbeat, on_lost: Callable[[], None] | None = None
    ) -> None:
        """`on_lost` is called for each event that a Broker could not deliver."""
        self._listening = listening
        self._heartbeat = heartbeat
        self._on_lost = on_lost
        listening.setblocking(False)  # why: a client may be gone again between select and accept

    def fileno(self) -> int:
        """For `select`."""
        return self._listening.fileno()

    def close(self) -> None:
        """Stop listening here; for a child that inherited the port."""
        self._listening.close()

    def answer(self, *also: str) -> None:
        """Answer the client that waits; `also` is missing, too."""
        with contextlib.suppress(OSError):  # a client that went away, or is too slow
            client, _ = self._listening.accept()
            with client:
                client.settimeout(_REQUEST_SECONDS)
                path = client.recv(_REQUEST_BYTES).split(b" ", 2)[1:2]
                client.sendall(self._response(path[0] if path else b"", also))
                _read_out(client)

    def _response(self, path: bytes, also: tuple[str, ...]) -> bytes:
        match path:
            case b"/livez":
                stuck = self._heartbeat.stuck()
                return _answer(not stuck, {"stuck": stuck} if stuck else {})
            case b"/readyz":
                missing = [*also, *self._heartbeat.missing()]
                return _answer(not missing, {"missing": missing})
            case b"/lost" if self._on_lost:
                self._on_lost()
                return _TAKEN
        return _http("404 Not Found", {})


@dataclass(frozen=True, slots=True)
class Health:
    """The health of a program that forks its workers; without a port nobody asks."""

    heartbeat: Heartbeat = field(default_factory=lambda: Heartbeat((REDIS,)))
    port: HealthPort | None = None
    has_api: Callable[[], bool] | None = None
    """Whether the API server answers."""

    def wait(self, child: socket.socket, seconds: float, *, is_up: bool) -> bool:
        """Wait for a message of the child and return whether there is one; answer the port meanwhile."""
        ready, _, _ = select.select([child, *([self.port] if self.port else ())], [], [], seconds)
        if self.port and self.port in ready:
            self.port.answer(*(() if is_up else (WORKER,)))
        return child in ready

    def begin_child(self) -> None:
        """In a child that was just forked: leave the port to the parent, and look at the API server."""
        self.heartbeat.tries()
        if self.port:
            self.port.close()
        if self.has_api:
            look(self.heartbeat, API, self.has_api)


def _read_out(client: socket.socket) -> None:
    """Read what is left of a request: to close before would reset the connection, and the answer might be lost."""
    client.shutdown(socket.SHUT_WR)
    read = 0
    while read < _LARGEST_BODY and (chunk := client.recv(2**16)):
        read += len(chunk)


def _answer(is_well: bool, facts: dict[str, object]) -> bytes:
    return _http("200 OK" if is_well else "503 Service Unavailable", {"ok": is_well, **facts})


def _http(status: str, facts: dict[str, object]) -> bytes:
    body = json.dumps(facts).encode()
    lines = [
        f"HTTP/1.1 {status}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def serve(port: HealthPort) -> None:
    """Answer in a thread of its own, for as long as the process lives."""

    def answers() -> NoReturn:
        while True:
            select.select([port], [], [])
            port.answer()

    threading.Thread(target=answers, name="health", daemon=True).start()


def look(heartbeat: Heartbeat, need: str, answers: Callable[[], bool]) -> None:
    """Ask in a thread of its own, every few seconds, whether something answers."""

    def looks() -> NoReturn:
        while True:
            if answers():
                heartbeat.answered(need)
            time.sleep(_POLL_SECONDS)

    threading.Thread(target=looks, name="look", daemon=True).start()
