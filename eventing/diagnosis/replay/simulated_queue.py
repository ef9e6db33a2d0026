"""Runs today's steps in a replayed world, with a queue without workers and a clock that jumps."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeAlias

from eventing.diagnosis.replay.world_ports import World
from eventing.events.event import Event, change_id
from eventing.events.hints import hints
from eventing.events.job import Job
from eventing.journal import JournalIndex
from eventing.journal.records import Write, unpack_run
from eventing.routes import jobs_for
from eventing.runner import Runner, Steps
from eventing.workqueue import Claim
from shared import names
from shared.kinds import Ref

_MORE_TRIES = 20

Note: TypeAlias = Callable[[Event | bytes], object]
"""Gets what happens: an event, or the record of a run."""


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
    _ready: dict[Job, list[str]] = field(default_factory=dict)
    _delayed: list[tuple[int, int, Job]] = field(default_factory=list)
    _order: Iterator[int] = field(default_factory=count)
    _attempts: dict[Job, int] = field(default_factory=dict)
    _hints: dict[Ref, dict[str, str]] = field(default_factory=dict)
    _enqueued: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._runner = Runner(self.ports, self.world, self, steps=self.steps)

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
        for job in jobs_for(event):
            self._ready.setdefault(job, []).append(event.id)

    def audit(self, refs: Iterable[Ref]) -> None:
        """Enqueue the jobs of existing objects, as the audit does."""
        for ref in sorted(refs):
            if manifest := self.world.get(ref):
                self.enqueue(Event(f"audit-{ref}", f"{names.RESOURCE_EVENT}update", "audit", ref, hints(manifest)))

    def settle(self, until_ms: int) -> None:
        """Run the jobs that are ready, and those that become due until then."""
        while self.has_runs_left:
            while self._ready and self.has_runs_left:
                job = next(iter(self._ready))
                self._run(job, tuple(self._ready.pop(job)))
            for event in self.answer():
                self.enqueue(event)
            if self._ready:
                continue
            if not self._delayed or self._delayed[0][0] > until_ms:
                break
            due, _, job = heapq.heappop(self._delayed)
            self.now_ms = max(self.now_ms, due)
            self._ready.setdefault(job, []).append("delay")
        self.now_ms = max(self.now_ms, until_ms)

    def waiting(self) -> Iterator[tuple[Job, timedelta]]:
        """The jobs that are not due yet, and how long each has to wait."""
        for due, _, job in sorted(self._delayed):
            yield job, timedelta(milliseconds=due - self.now_ms)

    def retry(self) -> None:
        """Retry the failed jobs: the clock jumps to the time when each is due."""
        for _ in range(_MORE_TRIES):
            due = [at for at, _, job in self._delayed if job in self.failing]
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
            self._ready.setdefault(enqueued, []).append(result.run_id)
        self._attempts[job] = attempt if result.failure else 0
        self.failing.pop(job, None)
        if result.failure:
            self.failing[job] = f"{job.step} on {job.ref}: {result.message}"
        delay = result.again_in if result.again_in is not None or not result.failure else timedelta(seconds=attempt)
        if delay is not None:
            due = self.now_ms + int(delay / timedelta(milliseconds=1))
            heapq.heappush(self._delayed, (due, next(self._order), job))

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
        if manifest is not None and event_id in self._enqueued:
            return  # why: a write without a change makes no event
        self._enqueued.add(event_id)
        self.enqueue(Event(event_id, names.RESOURCE_EVENT + verb, "world", ref, self._hints.get(ref, {})))
