"""What a Job asks for and what its status says at each end; no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.api.manifest import Manifest, ReadOnly, annotations_of, metadata, timestamp, uid_of
from shared.kinds import Ref
from shared.names import KUBELET_FAIL

PROGRAM = "olmf"
FINISHED = ("Complete", "Failed")


@dataclass(frozen=True, slots=True)
class Task:
    """A Job that this stand-in can run."""

    ref: Ref
    uid: str
    arguments: tuple[str, ...]
    """Of the command `olmf`."""
    environ: Mapping[str, str]
    secrets: Mapping[str, str]
    """Mount path by name of the Secret mounted there."""
    retries: int
    deadline: timedelta | None
    """Of all attempts together."""
    ordained: str
    """The message with which it shall fail; empty: it shall run."""


@dataclass(slots=True)
class Progress:
    """How far a Job got."""

    started: datetime
    failures: int = 0
    last_words: str = ""
    """The end of what the last failed attempt said."""


def task_of(job: ReadOnly) -> Task | None:
    """What is to be run; None when the Job is none of ours, is suspended, or has ended."""
    spec = job.get("spec") or {}
    pod = (spec.get("template") or {}).get("spec") or {}
    container = (pod.get("containers") or [{}])[-1]
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    if words[:1] != [PROGRAM] or spec.get("suspend") or finished_at(job) or metadata(job).get("deletionTimestamp"):
        return None
    seconds = spec.get("activeDeadlineSeconds")
    template = spec.get("template") or {}
    return Task(
        ref=Ref.of(job),
        uid=uid_of(job),
        arguments=tuple(words[1:]),
        environ={entry["name"]: entry["value"] for entry in container.get("env") or () if entry.get("value")},
        secrets=_secrets(pod, container),
        retries=spec.get("backoffLimit", 6),
        deadline=None if seconds is None else timedelta(seconds=seconds),
        ordained=annotations_of(job).get(KUBELET_FAIL) or annotations_of(template).get(KUBELET_FAIL, ""),
    )


def begun(job: ReadOnly, now: datetime) -> Progress:
    """Where to take up a Job: at its beginning, or where a former process of ours left it."""
    status = job.get("status") or {}
    started = status.get("startTime")
    return Progress(_instant(started) if started else now, status.get("failed") or 0)


def finished_at(job: ReadOnly) -> datetime | None:
    """When the Job ended, None while it has not."""
    for condition in (job.get("status") or {}).get("conditions") or ():
        if condition["type"] in FINISHED and condition["status"] == "True":
            return _instant(condition["lastTransitionTime"])
    return None


def removal_due(job: ReadOnly) -> datetime | None:
    """When an ended Job is to be deleted; None: it stays."""
    seconds, ended = (job.get("spec") or {}).get("ttlSecondsAfterFinished"), finished_at(job)
    return None if seconds is None or ended is None else ended + timedelta(seconds=seconds)


def active(progress: Progress) -> Manifest:
    """Status of a Job whose process runs."""
    return {"startTime": timestamp(progress.started), "active": 1, "ready": 1, "failed": progress.failures or None}


def complete(progress: Progress, now: datetime) -> Manifest:
    """Status of a Job that did its work."""
    said = ("CompletionsReached", "Reached expected number of succeeded pods")
    return {
        **_ended(progress),
        "succeeded": 1,
        "completionTime": timestamp(now),
        "conditions": [_condition(kind, *said, now) for kind in ("SuccessCriteriaMet", "Complete")],
    }


def failed(progress: Progress, reason: str, now: datetime) -> Manifest:
    """Status of a Job that will not be tried again; `reason` is BackoffLimitExceeded or DeadlineExceeded."""
    message = {
        "BackoffLimitExceeded": "Job has reached the specified backoff limit",
        "DeadlineExceeded": "Job was active longer than specified deadline",
    }[reason]
    if progress.last_words:
        message += f": {progress.last_words}"
    return {
        **_ended(progress),
        "conditions": [_condition(kind, reason, message, now) for kind in ("FailureTarget", "Failed")],
    }


def _ended(progress: Progress) -> Manifest:
    """None removes what `active` said."""
    return {
        "startTime": timestamp(progress.started),
        "active": None,
        "ready": 0,
        "terminating": 0,
        "failed": progress.failures or None,
        "uncountedTerminatedPods": {},
    }


def _secrets(pod: ReadOnly, container: ReadOnly) -> dict[str, str]:
    volumes = {
        volume["name"]: volume["secret"]["secretName"] for volume in pod.get("volumes") or () if volume.get("secret")
    }
    mounts = container.get("volumeMounts") or ()
    return {volumes[mount["name"]]: mount["mountPath"] for mount in mounts if mount["name"] in volumes}


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


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
