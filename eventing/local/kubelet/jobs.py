"""Reads the spec of a Job, and computes its status at the start and at each end; no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from eventing.local.kubelet.pods import PROGRAM, words_of
from shared.api.manifest import Manifest, ReadOnly, annotations_of, instant, metadata, timestamp, uid_of
from shared.api.views import Job
from shared.kinds import Ref
from shared.names import KUBELET_FAIL

FINISHED = ("Complete", "Failed")


@dataclass(frozen=True, slots=True)
class Task:
    """The program of a Job."""

    ref: Ref
    uid: str
    job: ReadOnly
    retries: int
    deadline: timedelta | None
    """Maximum duration of all attempts together."""
    failure: str
    """The message with which the Job is made to fail; empty: it runs."""


@dataclass(slots=True)
class Progress:
    """The attempts of a Job so far."""

    started: datetime
    failures: int = 0
    output: str = ""
    """The end of the output of the last failed attempt."""


def task_of(job: ReadOnly) -> Task | None:
    """The program to run; None when it is not `olmf`, or the Job is suspended, is being deleted, or has ended."""
    spec = job.get("spec") or {}
    pod = (spec.get("template") or {}).get("spec") or {}
    if (
        words_of({"spec": pod})[:1] != (PROGRAM,)
        or spec.get("suspend")
        or finished_at(job)
        or metadata(job).get("deletionTimestamp")
    ):
        return None
    seconds = spec.get("activeDeadlineSeconds")
    template = spec.get("template") or {}
    return Task(
        ref=Ref.of(job),
        uid=uid_of(job),
        job=job,
        retries=spec.get("backoffLimit", 6),
        deadline=None if seconds is None else timedelta(seconds=seconds),
        failure=annotations_of(job).get(KUBELET_FAIL) or annotations_of(template).get(KUBELET_FAIL, ""),
    )


def begun(job: ReadOnly, now: datetime) -> Progress:
    """The progress of a Job: none, or what its status says, which a former process of ours wrote."""
    status = job.get("status") or {}
    return Progress(instant(status.get("startTime")) or now, status.get("failed") or 0)


def finished_at(job: ReadOnly) -> datetime | None:
    """When the Job ended, or was created where its condition has no time; None before its end."""
    for kind in FINISHED:
        condition = Job(job).condition(kind)
        if condition.is_true:
            return condition.since or Job(job).created
    return None


def removal_due(job: ReadOnly) -> datetime | None:
    """When an ended Job is to be deleted; None when it has not ended, or stays."""
    seconds, ended = (job.get("spec") or {}).get("ttlSecondsAfterFinished"), finished_at(job)
    return None if seconds is None or ended is None else ended + timedelta(seconds=seconds)


def active(progress: Progress) -> Manifest:
    """The status of a Job whose process runs."""
    return {"startTime": timestamp(progress.started), "active": 1, "ready": 1, "failed": progress.failures or None}


def complete(progress: Progress, now: datetime) -> Manifest:
    """The status of a Job whose process exited with 0."""
    reason_and_message = ("CompletionsReached", "Reached expected number of succeeded pods")
    return {
        **_ended(progress),
        "succeeded": 1,
        "completionTime": timestamp(now),
        "conditions": [_condition(kind, *reason_and_message, now) for kind in ("SuccessCriteriaMet", "Complete")],
    }


def failed(progress: Progress, reason: str, now: datetime) -> Manifest:
    """The status of a Job that has failed; `reason` is BackoffLimitExceeded or DeadlineExceeded."""
    message = {
        "BackoffLimitExceeded": "Job has reached the specified backoff limit",
        "DeadlineExceeded": "Job was active longer than specified deadline",
    }[reason]
    if progress.output:
        message += f": {progress.output}"
    return {
        **_ended(progress),
        "conditions": [_condition(kind, reason, message, now) for kind in ("FailureTarget", "Failed")],
    }


def _ended(progress: Progress) -> Manifest:
    """The fields at every end, as a merge patch: None removes a field that `active` has set."""
    return {
        "startTime": timestamp(progress.started),
        "active": None,
        "ready": 0,
        "terminating": 0,
        "failed": progress.failures or None,
        "uncountedTerminatedPods": {},
    }


def _condition(kind: str, reason: str, message: str, now: datetime) -> Manifest:
    stamp = timestamp(now)
    return {
        "type": kind,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastProbeTime": stamp,
        "lastTransitionTime": stamp,
    }
