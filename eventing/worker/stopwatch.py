"""Measures the durations of the present runs from another process."""

from __future__ import annotations

import math
import mmap
import struct
import time
from collections.abc import Callable, Iterator

_SLOT = struct.Struct("dQ")


class Stopwatch:
    """When each present run began, in memory that a parent shares with the children it forks: no message, no call."""

    def __init__(self, slots: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        self.slots = slots
        self._clock = clock
        self._memory = mmap.mmap(-1, _SLOT.size * slots)

    def start(self, token: int = 0, slot: int = 0) -> None:
        """The run of the claim with that token begins."""
        self._set(slot, self._clock(), token)

    def stop(self, slot: int = 0) -> None:
        """The run has ended."""
        self._set(slot)

    def reset(self) -> None:
        """Nothing runs."""
        for slot in range(self.slots):
            self.stop(slot)

    def left(self, limit_seconds: float) -> float:
        """Seconds until the first of the present runs reaches the limit; infinite when nothing runs."""
        return min((started for started, _ in self._running()), default=math.inf) + limit_seconds - self._clock()

    def late(self, limit_seconds: float) -> frozenset[int]:
        """The tokens of the present runs that have reached the limit."""
        until = self._clock() - limit_seconds
        return frozenset(token for started, token in self._running() if started <= until)

    def present(self) -> frozenset[int]:
        """The tokens of the present runs."""
        return frozenset(token for _, token in self._running())

    def _running(self) -> Iterator[tuple[float, int]]:
        return (values for slot in range(self.slots) if (values := self._get(slot))[0])

    def _get(self, slot: int) -> tuple[float, int]:
        started, token = _SLOT.unpack_from(self._memory, _SLOT.size * slot)
        return started, token

    def _set(self, slot: int, started: float = 0.0, token: int = 0) -> None:
        _SLOT.pack_into(self._memory, _SLOT.size * slot, started, token)
