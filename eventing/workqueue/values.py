"""What goes into the queue and what comes out: claims, listings, counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from eventing.routes import Job, Lane
from shared.kinds import Ref

State: TypeAlias = Literal["ready", "blocked", "running", "delayed", "dead"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One job that this worker may run now, until its lease ends."""

    step: str
    ref: Ref
    group: str
    lane: Lane
    token: int
    """Fences: whoever holds the ref later has a greater one."""
    attempt: int = 1
    """1, or one more than the failures in a row before."""
    causes: tuple[str, ...] = ()
    """Ids of the events (and runs) that rang, the first 32."""
    cause_count: int = 0
    """How many rang."""
    waited_ms: int = 0
    """From the first ring, or from when a delay was over."""
    trace: str = ""
    """The trace context of the first cause whose sender gave one, or that a run of ours rang or wrote."""


@dataclass(frozen=True, slots=True)
class Added:
    """What became of jobs that were added."""

    fresh: int
    """How many were not waiting yet."""
    unserved: tuple[str, ...] = ()
    """Groups that no live drainer serves: whoever added must drain them, or wake somebody who does."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One job as `olmf queue ls` shows it."""

    step: str
    ref: Ref
    lane: Lane
    state: State
    attempts: int = 0
    """Failures in a row."""
    error: str = ""
    """The last one."""
    since: datetime | None = None
    """When it was rung (ready, blocked), or parked (dead)."""
    due: datetime | None = None
    """When a delay or a lease ends."""
    worker: str = ""
    """Who runs it."""
    causes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Depth:
    """How much there is, in jobs."""

    ready: Mapping[str, int] = field(default_factory=dict)
    """By group."""
    running: int = 0
    delayed: int = 0
    dead: int = 0
    refused: int = 0
    """RQ jobs that were not ours, ever."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How often runs of a step ended in one way."""

    step: str
    result: str
    """`done`, `waits`, `retry`, `bug`, `timeout`; `parked`: what became a dead letter, in no time."""
    count: int
    seconds: float
    """How long they took together."""


def entry_of(job: Job) -> str:
    """How scripts name a (step, ref). ValueError for what could not be read back."""
    text = str(job.ref)
    if Ref.parse(text) != job.ref or not job.group or "|" in job.step:
        raise ValueError(f"{job.step!r} for {text!r} cannot be queued: wanted <group>/<step> and a ref")
    return f"{job.step}|{text}"


def job_of(entry: str, lane: Lane = "direct") -> Job:
    """The inverse of `entry_of`."""
    step, _, ref = entry.partition("|")
    return Job(step, Ref.parse(ref), lane)
