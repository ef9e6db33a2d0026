"""What a run may still do: it asks the queue whether its lease is valid, and whether others wait."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from eventing.events.job import Job

TIME_SLICE_SECONDS = 0.2
"""How long a run may write while others wait."""

CheckLease: TypeAlias = Callable[[Sequence[Job]], bool]
"""Returns whether the lease is still valid; if the run is lost, the queue enqueues the given jobs."""


class QueueLost(Exception):
    """The queue could not say whether the lease is still valid."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass(slots=True)
class Lease:
    """Asks the queue for the lease, and separates the errors of the queue from those of steps and ports.

    The queue receives the jobs of the run before the first write: after a write, a repeated run finds nothing changed
    and enqueues nothing.
    """

    check_lease: CheckLease
    awaited: Callable[[], bool]
    seconds: Callable[[], float]
    jobs: tuple[Job, ...] = ()
    since: float = 0.0
    patience: float = TIME_SLICE_SECONDS

    def decides(self) -> None:
        """Note that a decision begins."""
        self.since = self.seconds()

    def records_jobs(self, jobs: tuple[Job, ...], *, may_rest: bool) -> None:
        """The decision is made, and enqueues these jobs; writing may take as long as deciding, or as long as needed."""
        now = self.seconds()
        self.patience = max(TIME_SLICE_SECONDS, now - self.since) if may_rest else math.inf
        self.jobs, self.since = jobs, now

    def is_lease_valid(self) -> bool:
        """Whether the next write is allowed."""
        jobs, self.jobs = self.jobs, ()
        return self._ask(lambda: self.check_lease(jobs))

    def is_over(self) -> bool:
        """Whether the run has written for so long that others, who wait, have their turn now."""
        return self.seconds() - self.since > self.patience and self._ask(self.awaited)

    def _ask(self, check: Callable[[], bool]) -> bool:
        try:
            return check()
        except Exception as error:
            raise QueueLost(error) from error
