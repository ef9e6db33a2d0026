"""Shares the time of the server between its users: who writes without pause delays others by one request at a time."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

LOOKS = 3
"""Rounds of the event loop before a choice: so many lie between a request's first bytes and its place in the queue."""


class FairQueue:
    """One request at a time, always of the user with the least use; what a real server's priority and fairness is for.

    Start-time fair queueing (Goyal, Vin, Chen 1996): in virtual time, a user's requests follow each other by what they
    took, and who comes after a pause begins where the others are, so that nobody saves up and nobody starves.
    """

    def __init__(self, seconds: Callable[[], float] = time.perf_counter) -> None:
        self._seconds = seconds
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
        if not self._is_busy:
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

    def _next(self) -> None:
        if not self._waiting:
            self._is_busy = False
            self._now = max(self._starts.values(), default=self._now)
            self._starts.clear()
            return
        user = min(self._waiting, key=self._starts.__getitem__)
        self._now = self._starts[user]
        turns = self._waiting[user]
        turn = turns.popleft()
        if not turns:
            del self._waiting[user]
        if turn.cancelled():  # its client disconnected
            self._plan()
        else:
            turn.set_result(None)
