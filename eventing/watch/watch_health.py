"""Tracks when each watch last received data from the API server, and which watches hang."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

STALE_SECONDS = 180.0
"""Age at which a watch counts as dead: twice `stream.SILENCE_SECONDS`."""
REFUSED_SECONDS = 180.0
"""How long events may not be taken, though there is somebody who should, before the watcher counts as dead."""
AWAY_SECONDS = 900.0
"""The same while Redis is away: a restart does not bring it back, and costs a list of everything when it comes."""
MOST_SKIPPED = 20
"""How many events in a row may be skipped until it counts as if none were taken: then not they are the reason."""
UNREADY_SECONDS = 10.0
"""How long events may not be taken before the watcher is not ready."""


@dataclass(slots=True)
class WatchHealth:
    """When each watch was heard of, by its name."""

    clock: Callable[[], float] = time.monotonic
    bound: float = STALE_SECONDS
    last_activity: dict[str, float] = field(default_factory=dict)
    """When the watch last received data."""
    last_outage: dict[str, float] = field(default_factory=dict)
    """When the watch last had a reason to receive none that a restart does not remove."""
    failing_since: float | None = None
    """Since when no events were taken."""
    refusing_since: float | None = None
    """The same without Redis being away."""
    skipped_in_a_row: int = 0
    """Events that were skipped since the last one that was taken."""
    waiting: set[str] = field(default_factory=set)
    """Watches whose first list is not delivered yet."""
    complete: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first list of every watch is delivered, or its kind is known not to be served."""

    def expect(self, name: str) -> None:
        """Register a watch that begins."""
        self.last_activity[name] = self.clock()
        self.waiting.add(name)

    def record_activity(self, name: str) -> None:
        """Record that the watch received data."""
        self.last_activity[name] = self.clock()

    def rest(self, name: str) -> None:
        """Record that a watch asks for nothing, because its kind is not served: it has no age."""
        self.last_activity.pop(name, None)

    def record_outage(self, *names: str) -> None:
        """Record that these watches, or all, receive nothing because the API server or the sink is away."""
        self.last_outage.update(dict.fromkeys(names or self.last_activity, self.clock()))

    def refused(self, *, is_away: bool) -> None:
        """Record that events were not recorded or queued: the sink is away, or does not take them."""
        now = self.clock()
        self.failing_since = now if self.failing_since is None else self.failing_since
        self.refusing_since = None if is_away else now if self.refusing_since is None else self.refusing_since
        self.record_outage()

    def accepted(self) -> None:
        """Record that events were recorded and queued."""
        self.failing_since = self.refusing_since = None
        self.skipped_in_a_row = 0

    def skipped(self) -> None:
        """Record that an event was skipped because it could not be recorded or queued."""
        self.skipped_in_a_row += 1
        if self.skipped_in_a_row > MOST_SKIPPED:
            self.refused(is_away=False)

    def failing(self) -> float:
        """For how many seconds no events were taken."""
        return 0.0 if self.failing_since is None else round(self.clock() - self.failing_since, 1)

    @property
    def is_dead(self) -> bool:
        """Whether events have not been taken for too long (see the docstring of the package)."""
        refusing = 0.0 if self.refusing_since is None else self.clock() - self.refusing_since
        return refusing > REFUSED_SECONDS or self.failing() > AWAY_SECONDS

    @property
    def is_ready(self) -> bool:
        """Whether everything that existed was delivered once, and events are taken."""
        return self.complete.is_set() and self.failing() <= UNREADY_SECONDS

    def record_first_list(self, name: str) -> None:
        """Record that the first list of a watch was delivered (or its kind is not served)."""
        self.waiting.discard(name)
        if not self.waiting:
            self.complete.set()

    def ages(self) -> dict[str, float]:
        """Seconds since each watch received data."""
        now = self.clock()
        return {name: round(now - last, 1) for name, last in sorted(self.last_activity.items())}

    def stale(self) -> dict[str, float]:
        """The watches that hang, with their ages: these exceed the limit, and no outage is more recent."""
        return {name: age for name, age in self.ages().items() if age > self.bound and not self._is_in_outage(name)}

    def _is_in_outage(self, name: str) -> bool:
        return self.clock() - self.last_outage.get(name, -math.inf) <= self.bound
