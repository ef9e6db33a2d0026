"""A queue without workers, with a clock that jumps: runs the steps of this version in a replayed world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any, TypeAlias

from eventing.diagnosis.replay.world_ports import World
from eventing.events.event import Event, change_id
from eventing.events.hints import hints
from eventing.events.job import Job
from eventing.journal import JournalIndex
from eventing.journal.records import Write, unpack_run
from eventing.routes import jobs_for
from eventing.runner import Runner, Steps
from eventing.runner.contested import Contested
from eventing.workqueue import Claim
from shared import names
from shared.kinds import Ref

_MORE_TRIES = 20

Note: TypeAlias = Callable[[Event | bytes], object]
"""Gets what happens: an event, or the record of a run."""


@dataclass
class WaitingJobs:
    """The jobs of a queue in memory: those that may run, with their causes, and those that are delayed."""

    ready: dict[Job, list[str]] = field(default_factory=dict)
    delayed: dict[Job, int] = field(default_factory=dict)
    """When each is due, in milliseconds since the epoch."""

    def add(self, job: Job, cause: str) -> None:
        """Enqueue a job, which ends its delay; one that is ready already has one cause more."""
        self.delayed.pop(job, None)
        self.ready.setdefault(job, []).append(cause)

    def delay(self, job: Job, due_ms: int) -> None:
        """Enqueue a job at that time, unless it is ready, or due before."""
        if job not in self.ready:
            self.delayed[job] = min(due_ms, self.delayed.get(job, due_ms))

    def wake(self, until_ms: int) -> None:
        """Enqueue the jobs that are due by then, the earliest first."""
        for job, due in sorted(self.delayed.items(), key=itemgetter(1)):
            if due <= until_ms:
                self.add(job, "delay")

    def take(self) -> tuple[Job, tuple[str, ...]] | None:
        """The job that was enqueued first, and its causes; None when none is ready."""
        job = next(iter(self.ready), None)
        return None if job is None else (job, tuple(self.ready.pop(job)))


@dataclass
class SimulatedQueue:
    """Runs the jobs that events enqueue, one at a time, until none is left."""

    world: World
    ports: Mapping[type, Any]
    steps: Steps
    answer: Callable[[], Iterable[Event]]
    """Repeats the answers of others to objects that were made meanwhile."""
    now_ms: int
    most: int
    """Maximum number of runs."""
    note: Note = lambda _: None
    """Gets each event and the record of each run, in order."""
    index: JournalIndex = field(default_factory=JournalIndex)
    failing: dict[Job, str] = field(default_factory=dict)
    """The jobs whose last run failed, and the errors."""
    jobs: WaitingJobs = field(default_factory=WaitingJobs)
    _attempts: dict[Job, int] = field(default_factory=dict)
    _hints: dict[Ref, dict[str, str]] = field(default_factory=dict)
    _enqueued: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        contested = Contested(lambda: self.now_ms / 1000)
        self._runner = Runner(self.ports, self.world, self, steps=self.steps, contested=contested)

    def now(self) -> datetime:
        """The clock of this world (`Clock`)."""
        return datetime.fromtimestamp(self.now_ms // 1000, UTC)

    @property
    def has_runs_left(self) -> bool:
        """Whether the maximum number of runs is not reached yet."""
        return len(self.index.runs) < self.most

    def enqueue(self, event: Event) -> None:
        """Queue the jobs that an event enqueues."""
        self.note(event)
        self._enqueued.add(event.id)
        for job in jobs_for(event):
            self.jobs.add(job, event.id)

    def audit(self, refs: Iterable[Ref]) -> None:
        """Enqueue the jobs of existing objects, as the audit does."""
        for ref in sorted(refs):
            if manifest := self.world.get(ref):
                self.enqueue(Event(f"audit-{ref}", f"{names.RESOURCE_EVENT}update", "audit", ref, hints(manifest)))

    def settle(self, until_ms: int) -> None:
        """Run the jobs that are ready, and those that become due until then."""
        while self.has_runs_left:
            while self.has_runs_left and (found := self.jobs.take()):
                self._run(*found)
            for event in self.answer():
                self.enqueue(event)
            if self.jobs.ready:
                continue
            due = min(self.jobs.delayed.values(), default=until_ms + 1)
            if due > until_ms:
                break
            self.now_ms = max(self.now_ms, due)
            self.jobs.wake(self.now_ms)
        self.now_ms = max(self.now_ms, until_ms)

    def waiting(self) -> Iterator[tuple[Job, timedelta]]:
        """The jobs that are not due yet, and how long each has to wait."""
        for job, due in sorted(self.jobs.delayed.items(), key=itemgetter(1)):
            yield job, timedelta(milliseconds=due - self.now_ms)

    def retry(self) -> None:
        """Retry the failed jobs: the clock jumps to the time when each is due."""
        for _ in range(_MORE_TRIES):
            due = [at for job, at in self.jobs.delayed.items() if job in self.failing]
            if not due:
                return
            self.settle(min(due))

    def _run(self, job: Job, causes: tuple[str, ...]) -> None:
        attempt = self._attempts.get(job, 0) + 1
        result = self._runner.run(Claim(job.step, job.ref, job.group, job.lane, 1, attempt, causes), lambda *_: True)
        self.note(result.record)
        record = unpack_run(result.record)
        self.index.add(record)
        for decision in record.run.decisions:
            for write in decision.writes:
                self._enqueue_for(write)
        for enqueued in result.jobs:
            self.jobs.add(enqueued, result.run_id)
        self._attempts[job] = attempt if result.failure else 0
        self.failing.pop(job, None)
        if result.failure:
            self.failing[job] = f"{job.step} on {job.ref}: {result.message}"
        delay = result.again_in if result.again_in is not None or not result.failure else timedelta(seconds=attempt)
        if delay is not None:
            self.jobs.delay(job, self.now_ms + int(delay / timedelta(milliseconds=1)))

    def _enqueue_for(self, write: Write) -> None:
        """Queue the jobs for the watch event of our own write."""
        if write.did != "sent" or write.op == "Record":
            return
        ref = Ref.parse(write.ref)
        manifest = self.world.get(ref)
        if manifest is not None:
            self._hints[ref] = hints(manifest)
        verb = "delete" if manifest is None else "add" if write.op == "Create" else "update"
        event_id = change_id(write.uid, write.version, verb)
        if event_id not in self._enqueued:  # why: a write without a change makes no event
            self.enqueue(Event(event_id, names.RESOURCE_EVENT + verb, "world", ref, self._hints.get(ref, {})))
