"""Claims queued jobs, runs them one after the other, and ends their runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn, TypeAlias, TypeVar

import structlog

from eventing.events.job import Job
from eventing.routes import STEPS
from eventing.worker.stopwatch import Stopwatch
from eventing.workqueue import REFUSED, UNREACHABLE, Claim, WorkQueue, is_paused, is_temporary
from eventing.workqueue.run_result import RunResult
from shared.kinds import Ref

Run: TypeAlias = Callable[[Claim], RunResult]
"""Runs the step of a claim; does not finish the claim. What it raises means that the result cannot be kept."""
Factory: TypeAlias = Callable[[WorkQueue], Run]
"""Makes a `Run` inside the child, so that the parent need not import what steps need."""

Guard: TypeAlias = Callable[[Callable[[], NoReturn]], NoReturn]
"""Calls what a thread does for ever, and ends the process with it."""

GROUPS = tuple(dict.fromkeys(step.partition("/")[0] for step in STEPS))
DRAIN_SECONDS = 60
FINISH_SECONDS = 5.0
"""Half of the time that its parent gives a drainer that was told to stop."""
DRAIN_KEYS = 20_000
SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.001, 0.016
"""Between two times that a drainer is woken for what it cannot get, longer and longer."""
_PAUSE_SECONDS = 1

T = TypeVar("T")
log = structlog.get_logger()


class _Stop(Exception):
    """Raised by a signal, only while the drainer waits for jobs."""


@dataclass(slots=True)
class Drainer:
    """Runs the jobs of some groups, one after the other."""

    queue: WorkQueue
    groups: Sequence[str]
    run: Run
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    tries: Callable[[], None] = lambda: None
    """Called before each try of a call to Redis: it goes on, whatever answers."""
    finish_seconds: float = FINISH_SECONDS
    """How long a result waits for Redis after the drainer was told to stop."""
    is_stopping: bool = False
    _stopped_at: float = math.inf
    _is_waiting: bool = False

    def drain(self, *, keys: int = DRAIN_KEYS, seconds: float = DRAIN_SECONDS, linger: float = DRAIN_SECONDS) -> int:
        """Run jobs until none came for `linger` seconds, or the limits are reached; returns how many ran."""
        now = time.monotonic()
        deadline, patient_until, ran, pause = now + seconds, now + linger, 0, 0.0
        while not self.is_stopping and ran < keys and (now := time.monotonic()) < deadline:
            if claims := self.claims():
                self.execute(claims)
                ran, patient_until, pause = ran + len(claims), time.monotonic() + linger, 0.0
            elif now < patient_until:
                self.wait_for(partial(self.pause, pause))
                self.wait_for(partial(self.rest, min(patient_until, deadline) - now))
                pause = min(max(2 * pause, SHORTEST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
            else:
                break
        return ran

    def stop(self, *_: object) -> None:
        """Signal handler: end after the present run."""
        self.is_stopping, self._stopped_at = True, min(self._stopped_at, time.monotonic())
        if self._is_waiting:
            raise _Stop

    def begin_long(self, step: str, ref: str) -> Callable[[], None] | None:
        """Claim that job of the long lane; returns what runs it, or None when it need not, or must not, run now."""
        job = Job(step, Ref.parse(ref), "long")

        def claims() -> tuple[Claim, ...]:
            claim = self.queue.claim_long(job)
            return (claim,) if claim else ()

        claimed = self._claimed(claims)
        return partial(self.execute, claimed) if claimed else None

    def wait_for(self, event: Callable[[], object]) -> None:
        """Wait for something, until told to stop."""
        try:
            self._is_waiting = True
            if not self.is_stopping:
                event()
            self._is_waiting = False
        except _Stop:
            self._is_waiting = False

    def pause(self, seconds: float) -> None:
        """Wait before it is woken again; only where something of its own may be the reason for what it cannot get."""

    def rest(self, seconds: float) -> None:
        """Wait until it is woken for a job, at most so long."""
        self.queue.wait(self.groups, seconds)

    def begin(self, _: Guard) -> None:
        """Start what runs beside the main thread."""

    def end(self) -> None:
        """Wait until no run is under way."""

    def execute(self, claims: Sequence[Claim]) -> None:
        """Run the claims, and end their runs."""
        for claim in claims:
            self.perform(claim)

    def claims(self, most: int = 1) -> tuple[Claim, ...]:
        """The next claims; none also when told to stop while Redis accepts no changes."""
        return self._claimed(lambda: self.queue.claims(self.groups, runs_per_namespace=1, most=most))

    def goes_on(self, claim: Claim) -> bool:  # noqa: ARG002  # a drainer with threads asks
        """Whether the thread that ends the run of the claim takes the next one in the same round trip."""
        return False

    def perform(self, claim: Claim, slot: int = 0) -> Claim | None:
        """Run the claim in this thread; `slot` is its place on the stopwatch. Returns the next one, if it `goes_on`."""
        self.stopwatch.start(claim.token, slot)
        try:
            result = self.run(claim)
        except (*UNREACHABLE, MemoryError):
            raise
        except Exception as error:  # an exception of the runner counts as a bug, like one of a step
            log.exception("runner_failed", step=claim.step, ref=str(claim.ref), attempt=claim.attempt)
            result = _failed(error)
        self.stopwatch.stop(slot)
        is_ended, following = self._finish(claim, result)
        if not is_ended:
            log.warning("lease_lost", step=claim.step, ref=str(claim.ref), attempt=claim.attempt)
        return following

    def _finish(self, claim: Claim, result: RunResult) -> tuple[bool, Claim | None]:
        try:
            return self._patiently(partial(self._end, claim, result), stopping_seconds=self.finish_seconds)
        except Exception as error:  # what a step returned cannot be stored: a bug of that run, not of this worker
            if is_temporary(error):
                raise
            log.exception("result_refused", step=claim.step, ref=str(claim.ref), attempt=claim.attempt)
            failed = partial(self._end, claim, _failed(error))
            return self._patiently(failed, stopping_seconds=self.finish_seconds)

    def _end(self, claim: Claim, result: RunResult) -> tuple[bool, Claim | None]:
        """Whether the run was ended, and the next claim."""
        if self.goes_on(claim):
            return self.queue.finish_and_claim(claim, result, self.groups, runs_per_namespace=1)
        return self.queue.finish(claim, result), None

    def _claimed(self, act: Callable[[], tuple[Claim, ...]]) -> tuple[Claim, ...]:
        """The next claims; none also when the drainer was told to stop while Redis accepts no changes."""
        try:
            return self._patiently(act)
        except REFUSED as error:
            if not (self.is_stopping and is_paused(error)):
                raise
            return ()

    def _patiently(self, act: Callable[[], T], *, stopping_seconds: float = 0) -> T:
        """Repeat a call for as long as Redis accepts no changes, when told to stop only so long."""
        while True:
            self.tries()
            try:
                return act()
            except REFUSED as error:
                if not is_paused(error) or time.monotonic() >= self._stopped_at + stopping_seconds:
                    raise
                log.warning("redis_refuses", error=str(error))
                time.sleep(_PAUSE_SECONDS)


def _failed(error: Exception) -> RunResult:
    if is_paused(error):
        return RunResult(run_id="", record=b"", failure="retry", message=f"Redis accepts no changes: {error}")
    return RunResult(run_id="", record=b"", failure="bug", message=f"{type(error).__name__}: {error}")
