"""Measures the duration of the present run from another process."""

from __future__ import annotations

import math
import mmap
import struct
import time


class Stopwatch:
    """A start time in memory that a parent shares with the children it forks: no message, no system call."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8)

    def start(self) -> None:
        """A run begins."""
        struct.pack_into("d", self._memory, 0, time.monotonic())

    def stop(self) -> None:
        """The run has ended."""
        struct.pack_into("d", self._memory, 0, 0.0)

    def left(self, limit_seconds: float) -> float:
        """Seconds until the present run reaches the limit; infinite when nothing runs."""
        (started,) = struct.unpack_from("d", self._memory, 0)
        return float(started) + limit_seconds - time.monotonic() if started else math.inf
