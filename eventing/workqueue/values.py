"""The values of the queue: claims, listings, counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from eventing.events.job import Job, Lane
from eventing.workqueue.durations import Bucket
from shared.domain.progress import Progress
from shared.kinds import Ref

State: TypeAlias = Literal["ready", "blocked", "running", "delayed", "dead"]


class Addition(NamedTuple):
    """The jobs of one event."""

    jobs: tuple[Job, ...]
    cause: str
    """The id of the event. By it the watch event of a write of the job's own last run (`RunResult.own_events`) is
    recognised: it merges, but shortens no delay and releases no dead letter."""
    trace: str = ""
    """The trace context of the event, if the sender gave one."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One job that this worker may run now, until its lease ends."""

    step: str
    ref: Ref
    group: str
    lane: Lane
    token: int
    """The fencing token: each later claim of the ref has a greater one."""
    attempt: int = 1
    """One more than the number of consecutive failures before."""
    causes: tuple[str, ...] = ()
    """Ids of the first 32 events (and runs) that enqueued the job."""
    cause_count: int = 0
    """Number of events (and runs) that enqueued the job."""
    waited_ms: int = 0
    """How long the job waited: since it was first enqueued, or since its delay ended."""
    turn: int = 0
    """Its place in line, which it shared with no other: part of the id of its RQ job."""
    ended: str = ""
    """Why the run before was ended by force: its time or its memory was over."""
    trace: str = ""
    """The trace context of the first cause that has one: from its sender, or from one of our runs."""
    is_alone: bool = False
    """It may be the reason why a worker has ended: nothing else is to run beside it, so that it can only end itself."""
    reported: tuple[tuple[bytes | None, ...], ...] = ()
    """Keys and counts of the changes that were reported of what the runs of the step read (`journal.changes`)."""


@dataclass(frozen=True, slots=True)
class Loss:
    """How the runs of a worker were lost, and what follows for each."""

    message: str = "its worker is lost: it neither ended the run nor renewed its lease"
    failure: Literal["timeout", "limit", "retry"] = "timeout"
    """What it counts as; `limit`: the run itself is the reason, which its next run reads (`Claim.ended`)."""
    blamed: frozenset[int] | None = None
    """The tokens of the runs of which it is a failure (None: of all); the others run again at once."""
    alone: frozenset[int] | None = frozenset()
    """The tokens of the runs that may be the reason, and run alone next time; None: all."""

    @classmethod
    def among(cls, present: frozenset[int], message: str, failure: Literal["timeout", "limit"] = "timeout") -> Loss:
        """One of the runs that were present is the reason.

        It is known which one if there was no other; else nobody is blamed, and each of them runs alone next time.
        """
        return cls(message, failure, present if len(present) == 1 else frozenset(), present)


@dataclass(frozen=True, slots=True)
class Listed:
    """One job as `olmf queue ls` shows it."""

    step: str
    ref: Ref
    lane: Lane
    state: State
    attempts: int = 0
    """Number of consecutive failures."""
    error: str = ""
    """The last error."""
    since: datetime | None = None
    """When it was enqueued (ready, blocked), or parked (dead)."""
    due: datetime | None = None
    """When a delay or a lease ends."""
    worker: str = ""
    """The worker that runs it."""
    causes: tuple[str, ...] = ()
    progress: Progress | None = None
    """How far a long run is."""


@dataclass(frozen=True, slots=True)
class Depth:
    """The number of jobs in each state."""

    ready: Mapping[str, int] = field(default_factory=dict)
    """By group, without the long lane."""
    running: int = 0
    delayed: int = 0
    dead: int = 0
    refused: int = 0
    """Total number of RQ jobs that were not ours."""
    long: int = 0
    """Ready in the long lane."""


@dataclass(frozen=True, slots=True, order=True)
class Backlog:
    """A group that has jobs which could run now, or run."""

    group: str
    """`long`: the long lane of all groups."""
    is_awake: bool = False
    """A drainer of it said lately that it is awake."""
    waits_seconds: float = 0
    """For how long the job waits that came first; 0: none waits."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How often runs of a step ended in one way."""

    step: str
    result: str
    """`done`, `waits`, `retry`, `bug`, `timeout`, `interrupted` (with its worker, by another run or by which one is not
    known); `parked`: became a dead letter, with no duration; `warned`: a write of it that was answered with warnings,
    likewise."""
    count: int
    seconds: float
    """Their total duration."""
    buckets: tuple[Bucket, ...] = ()
    """The histogram of their durations, the shortest first."""
    recent: tuple[float, ...] = ()
    """The durations of the newest of them, a thousand in ten minutes at most; only where quantiles are told."""


def entry_of(job: Job) -> str:
    """The text by which scripts name a (step, ref). ValueError when it could not be parsed back."""
    text = str(job.ref)
    if Ref.parse(text) != job.ref or not job.group or "|" in job.step:
        raise ValueError(f"{job.step!r} for {text!r} cannot be queued: wanted <group>/<step> and a ref")
    return f"{job.step}|{text}"


def lane_of(text: str) -> Lane:
    """The lane of that name; `direct` for any other."""
    match text:
        case "bulk" | "long":
            return text
        case _:
            return "direct"


def job_of(entry: str, lane: Lane = "direct") -> Job:
    """The inverse of `entry_of`."""
    step, _, ref = entry.partition("|")
    return Job(step, Ref.parse(ref), lane)


def claim_of(answer: Sequence[Any]) -> Claim:
    """The claim that a script returned."""
    entry, token, lane, causes, count, attempt, waited, trace, ended, turn, alone, reported = answer
    job = job_of(entry.decode(), lane_of(lane.decode()))
    return Claim(
        step=job.step, ref=job.ref, group=job.group, lane=job.lane, token=int(token), attempt=attempt,
        causes=tuple(causes.decode().split("\n")) if causes else (), cause_count=count, waited_ms=waited,
        ended=ended.decode(), trace=trace.decode(), turn=turn, is_alone=bool(alone),
        reported=tuple(map(tuple, reported)),
    )  # fmt: skip
