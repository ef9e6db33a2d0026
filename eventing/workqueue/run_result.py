"""The result of one run of a step, which the work queue stores in the call that ends the run; and the back-off."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from eventing.events.job import Job

FIRST_WAIT = timedelta(milliseconds=250)
"""The wait after the first failure, unless the step states one."""
LONGEST_WAIT = timedelta(minutes=5)
"""The maximum to which a wait grows; a step may ask for a longer one."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended, and the jobs that it adds."""

    run_id: str
    """The id of the run in the journal; it is the cause of the jobs below."""
    record: bytes
    """The journal entry of the run."""
    jobs: tuple[Job, ...] = ()
    """The jobs for the events that the Outcome emitted."""
    again_in: timedelta | None = None
    """Run the same (step, ref) again after this delay."""
    failure: Literal["", "retry", "bug", "lost"] = ""
    """`retry`: never parked; `bug`: parked after N in a row; `lost`: the lease is gone, nothing may be stored."""
    message: str = ""
    """Why the run failed, in one sentence."""
    own_events: tuple[str, ...] = ()
    """Ids of the watch events of its own writes: they do not shorten the delay before this (step, ref) runs again."""
    counted: tuple[str, ...] = ()
    """The keys of the counts of writes (`journal.changes`) that it adds to, one for each kind and namespace."""
    is_waiting: bool = False
    """The step returned what it waits for (`Outcome.wait`)."""
    took_ms: float = 0.0
    trace: str = ""
    """W3C trace context of the run, which everything that it causes shares."""
    warned: int = 0
    """Number of its writes that the API server answered with warnings that somebody is told of."""
    read_set: bytes = b""
    """What it read of catalogs, if nothing of it is left to do; kept while the entry rests (`read_sets.py`)."""
    exemplar: str = ""
    """Id of the trace whose spans are sent somewhere, for the histogram of durations; empty: none are."""

    @property
    def end(self) -> str:
        """How it ended, as it is counted: its failure, `waits` or `done`."""
        return self.failure or ("waits" if self.is_waiting else "done")


def backoff(failures: int, random: float, *, first: timedelta = FIRST_WAIT) -> timedelta:
    """The wait after that many failures in a row (1, 2, …); `random` in [0, 1) spreads it over the upper half.

    A step that asks for `first` never waits less than that: its jitter is added, not taken away. A `first` of almost
    nothing is honoured once.
    """
    if failures > 1:
        first = max(first, FIRST_WAIT)
    if first >= LONGEST_WAIT:
        return first * (1 + random / 10)
    # The exponent is bounded because 2**1024 is not a float; the wait has reached its maximum long before.
    grown = min(first * int(2 ** min(max(failures, 1) - 1, 30)), LONGEST_WAIT)
    return max(grown * (0.5 + random / 2), first * (1 + random / 10))
