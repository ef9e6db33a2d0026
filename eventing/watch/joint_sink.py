"""Passes on together what several watches deliver at the same time: each call of the sink is a round trip."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import TypeAlias

from eventing.events.event import Event
from eventing.workqueue import is_temporary

_Delivery: TypeAlias = "tuple[Sequence[Event], asyncio.Future[None]]"

MOST_EVENTS = 500
"""Of one call, unless one watch delivers more: for so long nothing else is accepted."""


class JointSink:
    """A sink that is called by one thread, with all that came while it was busy."""

    def __init__(self, sink: Callable[[Sequence[Event]], None], thread: Executor) -> None:
        self._sink = sink
        self._thread = thread
        self._waiting: list[_Delivery] = []
        self._serving: asyncio.Task[None] | None = None

    async def accept(self, events: Sequence[Event]) -> None:
        """Return when the sink has accepted the events; raises what it raised."""
        accepted = asyncio.get_running_loop().create_future()
        self._waiting.append((events, accepted))
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve())
        await accepted

    async def _serve(self) -> None:
        while self._waiting:
            batch = self._next_batch()
            error = await self._error_of([event for events, _ in batch for event in events])
            if error is None or len(batch) == 1 or is_away(error):
                _answer(batch, error)
                continue
            for one in batch:  # what cannot be handled is no reason to refuse the rest
                _answer([one], await self._error_of(one[0]))

    def _next_batch(self) -> list[_Delivery]:
        """What waits, in the order in which it came; without what nobody waits for any more."""
        count, size = 0, 0
        for events, _ in self._waiting:
            size += len(events)
            if count and size > MOST_EVENTS:
                break
            count += 1
        batch, self._waiting = self._waiting[:count], self._waiting[count:]
        return [each for each in batch if not each[1].done()]

    async def _error_of(self, events: Sequence[Event]) -> Exception | None:
        """What the sink raised."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._sink, events)
        except Exception as error:  # noqa: BLE001  # why: it belongs to who delivered the events
            return error
        return None


def is_away(error: Exception) -> bool:
    """Whether it is the sink that takes nothing now, whatever the events are."""
    return is_temporary(error) or isinstance(error, OSError)


def _answer(batch: Sequence[_Delivery], error: Exception | None) -> None:
    for _, accepted in batch:
        if not accepted.done():
            if error is None:
                accepted.set_result(None)
            else:
                accepted.set_exception(error)
