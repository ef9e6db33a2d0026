"""The progress of a long run, reported while it goes on: in the work queue, and on the object of the run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import structlog

from eventing.routes import REPORTS
from eventing.workqueue import REFUSED, UNREACHABLE, Claim
from eventing.workqueue.run_result import RunResult
from shared.adapters.progress import Tally, heard_by
from shared.domain.progress import Progress
from shared.kinds import Ref

Run: TypeAlias = Callable[[Claim], RunResult]

log = structlog.get_logger()

FIRST_SECONDS: Final = 3.0
"""A shorter run reports nothing."""
_LEAST_SECONDS: Final = 5.0
_MOST_SECONDS: Final = 60.0


@dataclass(slots=True)
class Reporting:
    """Counts the progress of a run and reports it in growing intervals. Implements `Listener`."""

    attempt: int
    limit_seconds: int
    report: Callable[[], object]
    clock: Callable[[], float] = time.monotonic
    tally: Tally = field(default_factory=Tally)
    _began: float = 0.0
    _next: float = FIRST_SECONDS

    def __post_init__(self) -> None:
        self._began = self.clock()

    @property
    def progress(self) -> Progress:
        """How far it is; other threads may call this."""
        return self.tally.progress(self.attempt, self.clock() - self._began, self.limit_seconds)

    def advance(self, what: str, size: int, things: str) -> None:
        """Implements `Listener`."""
        self.tally.advance(what, size, things)
        self._report_if_due()

    def expect(self, size: int, layers: int) -> None:
        """Implements `Listener`."""
        self.tally.expect(size, layers)

    def complete(self) -> None:
        """Implements `Listener`."""
        self.tally.complete()

    def _report_if_due(self) -> None:
        seconds = self.clock() - self._began
        if seconds < self._next:
            return
        self._next = float("inf")  # not again while it reports
        self.report()
        self._next = seconds + min(max(seconds / 2, _LEAST_SECONDS), _MOST_SECONDS)


class LongRuns:
    """The long run of this process, if one goes on. Implements `Runs`."""

    def __init__(
        self, limit_seconds: int, keep: Callable[[bytes], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`keep` writes the record of a run that only reports progress into the journal."""
        self._limit_seconds, self._keep, self._clock = limit_seconds, keep, clock
        self._ref: Ref | None = None
        self._reporting: Reporting | None = None

    @property
    def present(self) -> Progress | None:
        """The progress of the run of this process, if it is a long one; other threads may call this."""
        reporting = self._reporting
        return reporting.progress if reporting else None

    def progress(self, ref: Ref) -> Progress | None:
        """The same, if it is about that object."""
        return self.present if ref == self._ref else None

    def run(self, claim: Claim, run: Run) -> RunResult:
        """The result of a run; writes that reported its progress count as its own."""
        if claim.lane != "long":
            return run(claim)
        reports: list[RunResult] = []
        with self._reported(claim, run, reports):
            result = run(claim)
        own_events = (each for report in (*reports, result) for each in report.own_events)
        counted = (each for report in (*reports, result) for each in report.counted)
        return replace(result, own_events=tuple(own_events), counted=tuple(dict.fromkeys(counted)))

    @contextmanager
    def _reported(self, claim: Claim, run: Run, reports: list[RunResult]) -> Iterator[None]:
        def report() -> None:
            if step := REPORTS.get(claim.step):
                try:
                    result = run(replace(claim, step=step))
                    self._keep(result.record)
                    reports.append(result)
                except (*UNREACHABLE, REFUSED) as error:  # the run itself finds out whether that matters
                    log.warning("progress_not_reported", ref=str(claim.ref), error=str(error))

        self._ref, self._reporting = claim.ref, Reporting(claim.attempt, self._limit_seconds, report, self._clock)
        try:
            with heard_by(self._reporting):
                yield
        finally:
            self._ref = self._reporting = None
