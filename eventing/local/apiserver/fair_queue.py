"""Shares the time of the server between its users: who writes without pause delays others by one request at a time."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

LOOKS = 3
"""Rounds of the event loop before a choice: so many lie between a request's first bytes and its place in the queue."""

PATIENCE = 0.001
"""Seconds for which a request waits for the next one of the user who was served last, if that one has used less."""


class FairQueue:
    """One request at a time, always of the user with the least use; what a real server's priority and fairness is for.

    Start-time fair queueing (Goyal, Vin, Chen 1996): in virtual time, a user's requests follow each other by what they
    took, and who comes after a pause begins where the others are, so that nobody saves up and nobody starves. A client
    that asks for one thing after the other is waited for a moment (anticipatory scheduling; Iyer, Druschel 2001): else
    whoever writes without pause would be served between any two of its requests.
    """

    def __init__(self, seconds: Callable[[], float] = time.perf_counter, patience: float = PATIENCE) -> None:
        self._seconds = seconds
        self._patience = patience
        self._last = ""
        """The user who was served last, until it has been waited for."""
        self._pause: asyncio.TimerHandle | None = None
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._starts: dict[str, float] = {}
        """The virtual time at which the next request of a user starts, for those who came since the server was idle."""
        self._now = 0.0
        self._is_busy = False
        """Whether a request is served or chosen."""

    @asynccontextmanager
    async def turn(self, user: str) -> AsyncIterator[None]:
        """A block that is entered when it is the user's turn; it is charged for, and must not wait inside."""
        await self._arrive(user)
        began = self._seconds()
        try:
            yield
        finally:
            self._starts[user] = self._start_of(user) + self._seconds() - began
            self._plan()

    async def _arrive(self, user: str) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(turn)
        self._starts[user] = self._start_of(user)
        if self._pause is not None and user == self._first():
            self._pause.cancel()
            self._pause = None
            self._plan()
        elif not self._is_busy:
            self._plan()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # why: whoever disconnects at the moment of its turn passes it on
                self._plan()
            raise

    def _start_of(self, user: str) -> float:
        return max(self._now, self._starts.get(user, 0.0))

    def _plan(self, looks: int = LOOKS) -> None:
        """Choose the next request, when those that came meanwhile have been read."""
        self._is_busy = True
        asyncio.get_running_loop().call_soon(*((self._plan, looks - 1) if looks else (self._next,)))

    def _first(self) -> str:
        return min(self._waiting, key=self._starts.__getitem__)

    def _next(self) -> None:
        self._pause = None
        if not self._waiting:
            self._is_busy = False
            self._now = max(self._starts.values(), default=self._now)
            self._starts.clear()
            self._last = ""
            return
        user = self._first()
        if self._last not in ("", user) and self._starts[self._last] < self._starts[user]:
            self._last = ""
            self._pause = asyncio.get_running_loop().call_later(self._patience, self._next)
            return
        self._serve(user)

    def _serve(self, user: str) -> None:
        self._now = self._starts[user]
        turns = self._waiting[user]
        turn = turns.popleft()
        if not turns:
            del self._waiting[user]
        if turn.cancelled():  # its client disconnected
            self._plan()
        else:
            self._last = user
            turn.set_result(None)
