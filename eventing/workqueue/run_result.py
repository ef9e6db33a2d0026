"""The result of one run of a step: the runner makes it, the work queue stores it in the call that ends the run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from eventing.events.job import Job


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
    wrote: tuple[str, ...] = ()
    """Ids of the watch events of its own writes: they do not shorten the delay before this (step, ref) runs again."""
    is_waiting: bool = False
    """The step returned what it waits for (`Outcome.wait`)."""
    took_ms: float = 0.0
    trace: str = ""
    """W3C trace context of the run, which everything that it causes shares."""
    warned: int = 0
    """Number of its writes that the API server answered with warnings that somebody is told of."""
