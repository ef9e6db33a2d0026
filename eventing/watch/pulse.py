"""Tracks when each watch last received data from the API server, and which watches hang."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

STALE_SECONDS = 180.0
"""Age at which a watch counts as dead: twice `stream.SILENCE_SECONDS`."""


@dataclass(slots=True)
class Pulse:
    """When each watch was heard of, by its name."""

    clock: Callable[[], float] = time.monotonic
    bound: float = STALE_SECONDS
    beats: dict[str, float] = field(default_factory=dict)
    """When the watch last received data."""
    excuses: dict[str, float] = field(default_factory=dict)
    """When the watch last had a reason to receive none that a restart does not remove."""
    waiting: set[str] = field(default_factory=set)
    """Watches whose first list is not delivered yet."""
    complete: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first list of every watch is delivered, or its kind is known not to be served."""

    def expect(self, name: str) -> None:
        """Register a watch that begins."""
        self.beats[name] = self.clock()
        self.waiting.add(name)

    def beat(self, name: str) -> None:
        """Record that the watch received data."""
        self.beats[name] = self.clock()

    def excuse(self, *names: str) -> None:
        """Record that these watches, or all, receive nothing because the API server or the sink is away."""
        self.excuses.update(dict.fromkeys(names or self.beats, self.clock()))

    def settled(self, name: str) -> None:
        """Record that the first list of a watch was delivered (or its kind is not served)."""
        self.waiting.discard(name)
        if not self.waiting:
            self.complete.set()

    def ages(self) -> dict[str, float]:
        """Seconds since each watch received data."""
        now = self.clock()
        return {name: round(now - beat, 1) for name, beat in sorted(self.beats.items())}

    def stale(self) -> dict[str, float]:
        """The watches that hang, with their ages: these exceed the limit, and no excuse is more recent."""
        return {name: age for name, age in self.ages().items() if age > self.bound and not self._is_excused(name)}

    def _is_excused(self, name: str) -> bool:
        return self.clock() - self.excuses.get(name, -math.inf) <= self.bound
