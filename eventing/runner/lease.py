"""What a run may still do: it asks the queue whether its lease is valid, and whether others wait."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from eventing.events.job import Job

TIME_SLICE_SECONDS = 0.2
"""How long a run may write while others wait, and how long it writes before it asks again for its lease."""

CheckLease: TypeAlias = Callable[[Sequence[Job], Sequence[str]], float]
"""Returns the seconds that are left of the lease; if the run is lost, the queue enqueues these jobs, and counts these
writes."""
MayGoOn: TypeAlias = Callable[[], tuple[float, bool]]
"""Returns the seconds that are left of the lease, and whether others wait."""


class QueueLost(Exception):
    """The queue could not say whether the lease is still valid."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass(slots=True)
class Lease:
    """Asks the queue for the lease, and separates the errors of the queue from those of steps and ports.

    The queue receives the jobs of the run, and what it writes, before the first write: after a write, a repeated run
    finds nothing changed and enqueues nothing. What it answers is good for a time slice, and never longer than the
    lease: nobody else has the ref before that ends, unless Redis has lost it. Once the run has written for long, it
    learns in the same round trip whether others wait.
    """

    check_lease: CheckLease
    may_go_on: MayGoOn
    seconds: Callable[[], float]
    jobs: tuple[Job, ...] = ()
    writes: tuple[str, ...] = ()
    since: float = 0.0
    patience: float = TIME_SLICE_SECONDS
    is_awaited: bool = False
    is_recorded: bool = True
    """The queue knows these jobs and writes."""
    good_until: float = -math.inf

    def decides(self) -> None:
        """Note that a decision begins."""
        self.since = self.seconds()

    def records_jobs(self, jobs: tuple[Job, ...], writes: Iterable[str], *, may_rest: bool) -> None:
        """The decision is made, enqueues these jobs and writes there; that may take as long as deciding, or longer."""
        now = self.seconds()
        self.patience = max(TIME_SLICE_SECONDS, now - self.since) if may_rest else math.inf
        self.jobs, self.since, self.is_recorded = jobs, now, False
        self.writes = tuple(dict.fromkeys((*self.writes, *writes)))

    def is_lease_valid(self) -> bool:
        """Whether the next write is allowed."""
        now, self.is_awaited = self.seconds(), False
        if self.is_recorded and now < self.good_until:
            return True
        try:
            if self.is_recorded and now - self.since > self.patience:
                left, self.is_awaited = self.may_go_on()
            else:
                left = self.check_lease(*(((), ()) if self.is_recorded else (self.jobs, self.writes)))
        except Exception as error:
            raise QueueLost(error) from error
        self.is_recorded = True
        self.good_until = min(now + left, self.seconds() + TIME_SLICE_SECONDS)
        return left > 0

    def is_over(self) -> bool:
        """Whether the run has written for so long that others, who wait, have their turn now."""
        return self.is_awaited
