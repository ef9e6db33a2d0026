"""What the pipeline is busy with now: the queue, workers, the namespaces that wait, and the slowest steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from eventing.workqueue import Client, Depth, Listed, Ran, WorkQueue
from eventing.workqueue.workers import WorkerState, workers

MOST = 1000
"""Jobs of each state that are looked at; the counts of the queue are of all."""
_FAILED = frozenset({"bug", "timeout", "interrupted"})
_NO_RUNS = frozenset({"parked", "warned"})
"""What is counted beside the runs of a step."""


@dataclass(frozen=True, slots=True)
class Busy:
    """A worker, and what it has under way."""

    worker: WorkerState
    running: int


@dataclass(slots=True)
class Waiting:
    """What waits in a namespace; empty: cluster-scoped objects."""

    namespace: str
    ready: int = 0
    """Could run now."""
    blocked: int = 0
    """Wait for the run about their object."""
    delayed: int = 0
    """Wait for their time."""
    dead: int = 0
    since: datetime | None = None
    """Since when the oldest could run."""


@dataclass(slots=True)
class StepTime:
    """How long a step took, since Redis was empty."""

    step: str
    runs: int = 0
    seconds: float = 0.0
    failed: int = 0
    recent: int | None = None
    """Runs since the frame before; None: there is none."""

    @property
    def mean(self) -> float:
        """Seconds of a run."""
        return self.seconds / self.runs if self.runs else 0.0


@dataclass(frozen=True, slots=True)
class Frame:
    """One look at all of it."""

    at: datetime
    depth: Depth
    workers: tuple[Busy, ...]
    running: tuple[Listed, ...]
    """The longest first to be over: by the end of their leases."""
    waiting: tuple[Waiting, ...]
    """Who waits for a worker longest comes first."""
    steps: tuple[StepTime, ...]
    """The slowest first."""
    runs: Mapping[str, int] = field(default_factory=dict)
    """Runs by step, for the next frame."""


def look(queue: WorkQueue, at: datetime, before: Frame | None = None) -> Frame:
    """The present state; with the frame before also what happened since."""
    client: Client = queue.client
    jobs, steps = (*queue.ls(MOST), *queue.dead(MOST)), _steps(queue.ran(), before)
    running = tuple(job for job in jobs if job.state == "running")
    busy = tuple(Busy(each, sum(_is_of(job, each) for job in running)) for each in workers(client))
    runs = {each.step: each.runs for each in steps}
    return Frame(at, queue.depth(), busy, running, _waiting(jobs), steps, runs)


def _is_of(job: Listed, worker: WorkerState) -> bool:
    """Whether a worker runs the job: RQ knows each process that a worker forks by a longer name."""
    return bool(job.worker) and worker.name.startswith(job.worker)


def _waiting(jobs: Iterable[Listed]) -> tuple[Waiting, ...]:
    found: defaultdict[str, Waiting] = defaultdict(lambda: Waiting(""))
    for job in jobs:
        one = found[job.ref.namespace]
        one.namespace = job.ref.namespace
        _count(one, job.state)
        if job.state in ("ready", "blocked") and job.since:
            one.since = min(one.since or job.since, job.since)
    rows = [one for one in found.values() if one.ready or one.blocked or one.delayed or one.dead]
    return tuple(sorted(rows, key=lambda one: (one.since is None, one.since, -one.delayed, one.namespace)))


def _count(one: Waiting, state: Literal["ready", "blocked", "running", "delayed", "dead"]) -> None:
    match state:
        case "ready" | "blocked" | "delayed" | "dead":
            setattr(one, state, getattr(one, state) + 1)


def _steps(ran: Iterable[Ran], before: Frame | None) -> tuple[StepTime, ...]:
    found: defaultdict[str, StepTime] = defaultdict(lambda: StepTime(""))
    for each in ran:
        if each.result not in _NO_RUNS:
            one = found[each.step]
            one.step = each.step
            one.runs += each.count
            one.seconds += each.seconds
            one.failed += each.count if each.result in _FAILED else 0
    for one in found.values():
        one.recent = one.runs - before.runs.get(one.step, 0) if before else None
    return tuple(sorted(found.values(), key=lambda one: (-one.mean, one.step)))
