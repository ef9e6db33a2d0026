"""Runs coroutines with a clock that does not wait: when nothing else is to be done, the time of the next has come."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Skipping(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if found := super().select(0):
            return found
        if timeout is None:
            raise AssertionError("everything waits for something that no clock brings")
        self.now += timeout
        return []


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._skipping = _Skipping()
        super().__init__(self._skipping)

    def time(self) -> float:
        return self._skipping.now


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run it to its end; `loop.time()` is the virtual time, in seconds since the beginning."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(work)
