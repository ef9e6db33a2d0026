"""The Python interface of the queue: each operation is one call of one Lua script."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any

from redis import Redis

from eventing.events.job import Job
from eventing.workqueue import arguments, listing
from eventing.workqueue.client import BLOCK_OVERRUN_SECONDS, LONGEST_BLOCK_SECONDS, QueueFull
from eventing.workqueue.run_result import RunResult, backoff
from eventing.workqueue.scripts import Argument, both, run, run_each
from eventing.workqueue.values import (
    Addition,
    Backlog,
    Claim,
    Depth,
    Listed,
    Loss,
    Ran,
    claim_of,
    entry_of,
    job_of,
)
from shared.config import Settings
from shared.domain.progress import Progress

JOURNAL = "olmf:journal"
"""The stream of journal entries: `finish.lua` puts the record of a run into their field `run`."""
LONGEST_RECORD = 8 * 1024 * 1024
"""Maximum number of bytes of one journal entry."""
WAKEUP, SWEEPER_WAKEUP, WAKER_WAKEUP = "olmf:bell:", "olmf:alarm", "olmf:waker"
"""Wake-up lists: of a group (with its name), of the sweepers, of the waker; the stored names are older than these."""
RENEWED_LEASE_SECONDS = 10
"""Duration of the lease of a worker that renews it."""
_EXPIRED = Loss(alone=None)
_LONGEST_MESSAGE = 1000


class WorkQueue:
    """One queue per group on one Redis; see the package for keys, timeline, invariants and sharp edges."""

    def __init__(self, client: Redis, settings: Settings, *, worker: str = "", is_renewing: bool = False) -> None:
        """`worker` is the name of the claimer.

        With `is_renewing` it sweeps all the time, which renews its claims: so its leases can be short, and its jobs run
        again soon after it was killed. Threads may share a queue.
        """
        self.client = client
        self.worker = worker or f"anonymous-{secrets.token_hex(4)}"
        self._settings = settings
        self._is_renewing = is_renewing
        self._running: dict[int, Claim] = {}
        self._groups: Sequence[str] = ()
        self._lease_seconds = min(settings.lease_seconds, RENEWED_LEASE_SECONDS if is_renewing else math.inf)
        self._sweep_seconds = min(1.0, self._lease_seconds / 4)
        self.progress: Callable[[], Progress | None] = lambda: None
        """How far the present run is, if it says so."""
        self.forget_records: Callable[[], None] = lambda: None
        """Called when a record was not stored with its run: Redis may have lost earlier ones, too."""
        self.on_end: Callable[[], None] = lambda: None
        """Called when the worker ends, once no run is under way."""
        self._journal = JOURNAL if settings.journal_bytes else ""
        self._random = secrets.SystemRandom().random

    def add(self, jobs: Iterable[Job], cause: str, *, trace: str = "", most: int = 0) -> int:
        """Enqueue the jobs of one event; see `add_each`."""
        return self.add_each([Addition(tuple(jobs), cause, trace)], most=most)

    def add_each(self, additions: Iterable[Addition], *, most: int = 0) -> int:
        """Enqueue the jobs of events, in order and in one round trip; returns how many were not waiting before.

        Each waits at most once, and at most as long as the shortest delay with which it was enqueued. QueueFull when
        `most` jobs of their namespace wait already in that group and lane, or twenty times as many of all (0: any
        number may wait); those that have room are enqueued.
        """
        calls = arguments.adding(additions, most)
        added = [int(answer) for answer in run_each(self.client, "add", calls)]
        if min(added, default=0) < 0:
            raise QueueFull(f"too many jobs of its kind wait, of {most} for each namespace")
        return sum(added)

    def claim(self, groups: Sequence[str], *, runs_per_namespace: int = 0) -> Claim | None:
        """Claim the next job of the groups, one time in eight of the bulk lane first; None when no job can run.

        It is of a namespace of which this worker has fewer than `runs_per_namespace` claims (0: of any).
        """
        return next(iter(self.claims(groups, runs_per_namespace=runs_per_namespace)), None)

    def claims(self, groups: Sequence[str], *, runs_per_namespace: int = 0, most: int = 1) -> tuple[Claim, ...]:
        """The same, at most so many in one round trip."""
        answers = run(self.client, "claim", *self._claiming(groups, runs_per_namespace, most))
        return tuple(self._noted(claim_of(answer)) for answer in answers)

    def _claiming(self, groups: Sequence[str], runs_per_namespace: int, most: int) -> tuple[str | int, ...]:
        if not groups:
            raise ValueError("claim() needs at least one group")
        self._groups = groups
        return (self.worker, self._lease_ms, runs_per_namespace, most, *groups)

    def claim_long(self, job: Job) -> Claim | None:
        """Claim that job of the long lane; None when it need not, or must not, run now."""
        claim = self._claimed_long(job)
        return claim and self._noted(claim)

    @property
    def running(self) -> tuple[Claim, ...]:
        """The claims whose runs have not ended."""
        return tuple(self._running.values())

    def is_lease_valid(self, claim: Claim) -> bool:
        """Whether the claim still holds its ref."""
        return self.lease_left(claim) > 0

    def lease_left(self, claim: Claim, jobs: Iterable[Job] = (), writes: Iterable[str] = ()) -> float:
        """For how many seconds from now, at most, the claim holds its ref; 0 when it is lost.

        If the run is lost, `jobs` are enqueued for it, and `writes` counted (`RunResult.counted`).
        """
        return float(run(self.client, "check_lease", *arguments.checking(claim, jobs, writes))) / 1000

    def is_awaited(self, claim: Claim) -> bool:
        """Whether a job of another namespace would go before the rest of this run; the long lane has its own limit."""
        return claim.lane != "long" and bool(run(self.client, "awaited", *self._awaiting(claim)))

    def may_go_on(self, claim: Claim) -> tuple[float, bool]:
        """What is left of the lease, and whether the run is awaited, in one round trip."""
        if claim.lane == "long":
            return self.lease_left(claim), False
        words = both(arguments.checking(claim, (), ()), self._awaiting(claim))
        left, is_awaited = run(self.client, "check_lease+awaited", *words)
        return float(left) / 1000, bool(is_awaited)

    def _awaiting(self, claim: Claim) -> tuple[str | int, ...]:
        return (entry_of(Job(claim.step, claim.ref)), claim.lane, claim.token, *self._groups)

    def finish(self, claim: Claim, result: RunResult) -> bool:
        """End the run, journal it, enqueue its jobs, and set its next run, in one call. False: the lease is lost.

        ValueError when the result cannot be stored; then the run has not ended.
        """
        is_ended = result.failure != "lost" and bool(run(self.client, "finish", *self._ending(claim, result)))
        return self._ended(claim, is_ended)

    def finish_and_claim(
        self, claim: Claim, result: RunResult, groups: Sequence[str], *, runs_per_namespace: int = 0
    ) -> tuple[bool, Claim | None]:
        """`finish`, and `claim` after it, in one round trip: both happen, or nothing."""
        if result.failure == "lost":
            return self.finish(claim, result), self.claim(groups, runs_per_namespace=runs_per_namespace)
        words = both(self._ending(claim, result), self._claiming(groups, runs_per_namespace, 1))
        is_ended, claims = run(self.client, "finish+claim", *words)
        following = self._noted(claim_of(claims[0])) if claims else None
        return self._ended(claim, bool(is_ended)), following

    def _ended(self, claim: Claim, is_ended: bool) -> bool:
        self._running.pop(claim.token, None)
        if not is_ended:
            self.forget_records()
        return is_ended

    def _ending(self, claim: Claim, result: RunResult) -> tuple[Argument, ...]:
        if len(result.record) > LONGEST_RECORD:
            raise ValueError(f"its journal entry has {len(result.record)} bytes, wanted at most {LONGEST_RECORD}")
        entry = entry_of(Job(claim.step, claim.ref))
        delay = self._delay(result, claim.attempt)
        return self._finishing(entry, claim.token, result, failure=result.failure, delay=delay)

    def wait(self, groups: Sequence[str], seconds: float) -> None:
        """Sleep until a job of the groups is enqueued, at most that long."""
        wakeups = [WAKEUP + group for group in groups]
        self.client.blpop(wakeups, timeout=min(max(seconds, 0.01), LONGEST_BLOCK_SECONDS))

    def wait_for_delay(self, seconds: float) -> None:
        """Sleep until a delay is added that ends before all others, at most that long; may end early."""
        if seconds <= BLOCK_OVERRUN_SECONDS:
            time.sleep(max(seconds, 0.001))  # why: what stays due for some fault must not make the sweeper spin
        else:
            self.client.blpop(
                [SWEEPER_WAKEUP], timeout=min(max(seconds - BLOCK_OVERRUN_SECONDS, 0.01), LONGEST_BLOCK_SECONDS)
            )

    def wait_for_backlog(self, seconds: float) -> None:
        """Sleep until work comes to a group that nobody drains, at most that long; for one waker."""
        self.client.blpop([WAKER_WAKEUP], timeout=min(max(seconds, 0.01), LONGEST_BLOCK_SECONDS))

    def backlog(self) -> tuple[Backlog, ...]:
        """The groups that have work now, by name; the long lane of all groups is one, `long`."""
        return listing.backlog(self.client)

    def note_awake(self, groups: Iterable[str], seconds: float) -> None:
        """Say that a drainer of these groups is awake for so long; 0: that it ends."""
        run(self.client, "awake", int(seconds * 1000), *groups)

    def sweep(self, *, lost_worker: str = "", loss: Loss = _EXPIRED) -> float:
        """Queue jobs that are due, take back expired leases; returns the seconds until the next is due, at most one.

        With `lost_worker` every run of that worker is taken back at once; `loss` says why.
        """
        running = self.running if self._is_renewing else ()
        renewed = [part for claim in running for part in (str(claim.ref), claim.token)]
        nearest, lost, long = run(self.client, "sweep", lost_worker, self._budget, self._lease_ms, *renewed)
        if long:
            self._publish(
                [(job_of(entry.decode(), "long"), turn) for entry, turn in zip(long[::2], long[1::2], strict=True)]
            )
        for entry, token, attempts in lost:
            self._take_back(entry.decode(), int(token), attempts, loss, only_expired=not lost_worker)
        return self._sweep_seconds if nearest < 0 else min(nearest / 1000, self._sweep_seconds)

    def _take_back(self, entry: str, token: int, attempts: int, loss: Loss, *, only_expired: bool) -> None:
        """End a run that was lost, so that it runs again."""
        is_blamed = loss.blamed is None or token in loss.blamed
        self._finish(
            entry, token, RunResult(run_id="", record=b"", message=loss.message),
            failure=loss.failure if is_blamed else "interrupted",
            delay=backoff(attempts + 1, self._random()) if is_blamed else timedelta(0),
            only_expired=only_expired, is_alone_next=loss.alone is None or token in loss.alone,
        )  # fmt: skip

    def ls(self, limit: int = 1000) -> tuple[Listed, ...]:
        """All jobs, the running ones first; at most `limit` of each state."""
        return listing.listed(self.client, limit, states=listing.LIVE)

    def dead(self, limit: int = 1000) -> tuple[Listed, ...]:
        """The dead letters, oldest first."""
        return listing.listed(self.client, limit, states=listing.DEAD)

    def depth(self) -> Depth:
        """The number of jobs in each state; cheap."""
        return listing.depth(self.client)

    def ran(self) -> tuple[Ran, ...]:
        """How often and how long runs took, by step and result, since Redis was empty."""
        return listing.ran(self.client)

    def retry_dead(self, jobs: Iterable[Job] | None = None, *, cause: str = "retry") -> int:
        """Release these dead letters (None: all of them); returns how many."""
        entries = (
            [entry_of(job) for job in jobs]
            if jobs is not None
            else [entry_of(Job(dead.step, dead.ref)) for dead in self.dead(10_000)]
        )
        return int(run(self.client, "release", cause, *entries)) if entries else 0

    def cancel(self, claim: Claim) -> bool:
        """End a run because a person said so: it becomes a dead letter. False: the lease is lost."""
        result = RunResult(run_id="", record=b"", message="canceled in RQ")
        delay = backoff(claim.attempt, self._random())
        return self._finish(entry_of(Job(claim.step, claim.ref)), claim.token, result, failure="canceled", delay=delay)

    def _publish(self, jobs: Sequence[tuple[Job, int]]) -> None:
        """Make the RQ jobs of the long jobs that may run; one whose RQ job a person canceled becomes a dead letter."""
        from eventing.workqueue import rq_long

        for job in rq_long.publish(self.client, jobs, self._settings.long_seconds):
            if claim := self._claimed_long(job):
                self.cancel(claim)

    def _claimed_long(self, job: Job) -> Claim | None:
        answer = run(self.client, "claim_long", self.worker, self._lease_ms, self._budget, entry_of(job))
        return claim_of(answer) if answer else None

    def _noted(self, claim: Claim) -> Claim:
        self._running[claim.token] = claim
        return claim

    @property
    def _budget(self) -> int:
        return self._settings.long_runs_per_namespace

    @property
    def _lease_ms(self) -> int:
        return int(self._lease_seconds * 1000)

    def _delay(self, result: RunResult, attempt: int) -> timedelta | None:
        if result.failure == "retry" and result.again_in is not None:
            return backoff(attempt, self._random(), first=result.again_in)
        return backoff(attempt, self._random()) if result.failure else result.again_in

    def _finish(self, entry: str, token: int, result: RunResult, **ending: Any) -> bool:
        return bool(run(self.client, "finish", *self._finishing(entry, token, result, **ending)))

    def _finishing(
        self, entry: str, token: int, result: RunResult, *, failure: str, delay: timedelta | None,
        only_expired: bool = False, is_alone_next: bool = False,
    ) -> tuple[Argument, ...]:  # fmt: skip
        return (
            entry, token, int(only_expired), failure, result.message[:_LONGEST_MESSAGE],
            -1 if delay is None else arguments.milliseconds(delay), self._settings.max_failures, self._journal,
            *arguments.finishing(result, failure, is_alone_next=is_alone_next),
        )  # fmt: skip
