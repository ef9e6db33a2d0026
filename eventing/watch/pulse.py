"""Tracks when each watch last received data from the API server, or found it away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

STALE_SECONDS = 180.0
"""Age at which a watch counts as dead: twice `stream.SILENCE_SECONDS`."""


@dataclass(slots=True)
class Pulse:
    """Heartbeats by name of the watch."""

    clock: Callable[[], float] = time.monotonic
    bound: float = STALE_SECONDS
    beats: dict[str, float] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)
    """Watches whose first list is not delivered yet."""
    complete: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first list of every watch is delivered, or its kind is known not to be served."""

    def expect(self, name: str) -> None:
        """Register a watch that begins."""
        self.beats[name] = self.clock()
        self.waiting.add(name)

    def beat(self, name: str) -> None:
        """Record that the watch received data, or that it will try again."""
        self.beats[name] = self.clock()

    def excuse(self) -> None:
        """Count silence from now on only: no watch reads while the sink fails."""
        now = self.clock()
        self.beats.update(dict.fromkeys(self.beats, now))

    def settled(self, name: str) -> None:
        """Record that the first list of a watch was delivered (or its kind is not served)."""
        self.waiting.discard(name)
        if not self.waiting:
            self.complete.set()

    def ages(self) -> dict[str, float]:
        """Seconds since the last beat of each watch."""
        now = self.clock()
        return {name: round(now - beat, 1) for name, beat in sorted(self.beats.items())}

    def stale(self) -> dict[str, float]:
        """The watches whose age exceeds the limit, with their ages in seconds."""
        return {name: age for name, age in self.ages().items() if age > self.bound}
