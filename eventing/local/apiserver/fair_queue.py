"""Serves waiting requests in turns of their users: who writes without pause delays others by one request at a time."""

from __future__ import annotations

import asyncio
from collections import deque


class FairQueue:
    """One request at a time, round robin between users; what the API server's priority and fairness does with levels.

    A request that finds nobody waiting still lets the event loop look once for others that have arrived.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """Users in the order of their turns; who has been served goes to the end."""
        self._is_due = False

    async def turn(self, user: str) -> None:
        """Return when it is the turn of a request of this user; it must be served without waiting again."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(turn)
        self._plan()
        await turn

    def _plan(self) -> None:
        if self._waiting and not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        self._is_due = False
        user = next(iter(self._waiting))
        turns = self._waiting.pop(user)
        turn = turns.popleft()
        if turns:
            self._waiting[user] = turns
        if not turn.done():  # why: who disconnects while it waits is cancelled
            turn.set_result(None)
        self._plan()
