"""Decides the state of unpacking one bundle, and the next action (catalog.md §5.3, §5.4)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeAlias, assert_never

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest
from shared.api.views import ConfigMap, ContainerStatus, Job, Pod, StoredCondition
from shared.domain.bundle.model import BadBundle
from shared.domain.subset import covers
from shared.domain.unpack import texts
from shared.domain.unpack.content import bundle_in
from shared.domain.unpack.objects import STEM, Unpacking
from shared.domain.unpack.registries import NONE, Registries
from shared.kinds import Ref

_JOB_TTL = timedelta(minutes=5)
_RETAINED = 5
_NO_JOB = Job(fields.EMPTY)
_USUAL_PULL = timedelta(seconds=10)
_BEFORE = datetime.min.replace(tzinfo=UTC)
SOON = timedelta(seconds=2)
"""When a Job that was just made is looked at: by then its controller or the kubelet may have refused its Pod."""
_RARELY = timedelta(seconds=15)
_PULL_REASONS = ("ImagePullBackOff", "ErrImagePull")
"""Reasons of the kubelet."""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The ConfigMap contains the bundle, or will when it is written."""

    config_map: ConfigMap


@dataclass(frozen=True, slots=True)
class Missing:
    """No Job runs: start a Job of this name."""

    job: str
    surplus: tuple[Job, ...] = ()
    """Old failed Jobs to delete."""
    registries: Registries = NONE


@dataclass(frozen=True, slots=True)
class Running:
    """A Job is running."""

    job: Job
    message: str = ""
    """What its containers wait for, in OLM's words."""
    cause: str = ""
    """Why it does not come to its end; empty while all is as usual."""
    again_in: timedelta = SOON
    cannot_pull: bool = False
    """A container waits for an image that the node could not pull."""


@dataclass(frozen=True, slots=True)
class Pulling:
    """A worker pulls the image itself, or is about to."""

    has_asked: bool
    """The ConfigMap says which image it is."""
    again_in: timedelta = _RARELY


@dataclass(frozen=True, slots=True)
class Stale:
    """A Job made with other settings, or whose failure is old: delete it; the next check starts another."""

    job: Job


@dataclass(frozen=True, slots=True)
class Broken:
    """The Job failed; `again_in` is the time until the next attempt."""

    reason: str
    message: str
    again_in: timedelta
    job: Job = _NO_JOB
    since: datetime = _BEFORE


@dataclass(frozen=True, slots=True)
class Prevented:
    """No attempt is possible in the present state."""

    message: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The objects cannot be written, mostly because the API server refuses them, so nothing is unpacked meanwhile."""

    message: str
    is_behind: bool = False
    """The refused object is that of another bundle: this one was not tried, because it would be refused, too."""


UnpackResult: TypeAlias = Unpacked | Missing | Running | Pulling | Stale | Broken | Prevented | Refused


def is_filled(config_map: ConfigMap, path: str) -> bool:
    """Whether the ConfigMap contains the manifests of that image."""
    return config_map.is_filled and config_map.annotation(names.SOURCE_IMAGE) in (None, path)


def known(desired: Unpacking, config_map: ConfigMap | None) -> UnpackResult | None:
    """The result if it does not depend on Jobs; else None."""
    if config_map is not None and is_filled(config_map, desired.path):
        bundle = bundle_in(config_map, desired.expected)
        return Prevented(bundle.message) if isinstance(bundle, BadBundle) else Unpacked(config_map)
    if desired.limits.problem:
        return Prevented(desired.limits.problem)
    return None


def judge(desired: Unpacking, jobs: Sequence[Job], now: datetime) -> UnpackResult:
    """The result for a bundle whose ConfigMap is not filled."""
    ranked = ranking(jobs)
    if not ranked:
        return Missing(desired.name)
    chosen = ranked[0]
    if not covers(chosen.spec, desired.job(chosen.name, Registries.of_job(chosen))["spec"]):
        return Stale(chosen)  # made with other settings: this also ends a failure that was caused by a setting
    if (failure := chosen.failure) is not None:
        return _after_failure(desired, ranked, failure, now)
    if not chosen.has_completed:
        return Running(chosen, again_in=min(max(_age(chosen, now), SOON), _RARELY))
    finished = chosen.completed or now
    if now - finished > _JOB_TTL:
        return Stale(chosen)
    message = f"unpack job {chosen.name} has completed, but ConfigMap {desired.name} holds no manifests"
    return Broken("EmptyBundle", message, finished + _JOB_TTL - now + timedelta(seconds=1), chosen, finished)


def refused(desired: Unpacking, ref: Ref, message: str) -> Refused:
    """The result for a bundle after the API server refused a write of an unpack object, its own or another's."""
    summary = f"{ref.kind} {ref.namespace}/{ref.name} cannot be written, the API server refuses it: {message}"
    return Refused(summary, is_behind=not desired.has(ref))


def to_create(desired: Unpacking, result: UnpackResult) -> tuple[Manifest, ...]:
    """The objects to create for the result."""
    return desired.objects(result.job, result.registries) if isinstance(result, Missing) else ()


def to_delete(result: UnpackResult) -> tuple[Job, ...]:
    """The Jobs to delete for the result."""
    match result:
        case Missing(surplus=jobs):
            return jobs
        case Stale(job):
            return (job,)
    return ()


def ranking(jobs: Sequence[Job]) -> list[Job]:
    """The Jobs in order: not failed before failed; each newest first, by creation or by failure."""

    def rank(job: Job) -> tuple[bool, str]:
        failure = job.failure
        return failure is None, (failure.since_text if failure else "") or job.age_key

    return sorted(jobs, key=rank, reverse=True)


def surplus(ranked: Sequence[Job], retained: int = _RETAINED) -> tuple[Job, ...]:
    """The old Jobs beyond those retained, at most five, never the oldest one."""
    return tuple(ranked[max(retained, 1) : -1 if retained else None][:5])


def is_slow(running: Running, now: datetime) -> bool:
    """Whether the Job takes longer than a pull usually does, so that its rights should be checked."""
    return _age(running.job, now) > _USUAL_PULL


def is_fresh(running: Running, now: datetime) -> bool:
    """Whether the Job was made just now, so that nothing can have gone wrong yet."""
    return _age(running.job, now) < SOON


def waiting(running: Running, pods: Sequence[Pod], causes: Sequence[str] = ()) -> Running:
    """The result with the reason for which its pods wait, and what those said that ended already."""
    pending = [(pod, one) for pod in pods if pod.is_pending for one in (*pod.init_containers, *pod.containers)]
    found = [_pending(pod, one) for pod, one in pending if not one.is_ready]
    states = [one.waiting for _, one in pending if not one.is_ready and one.waiting]
    message = f"unpack job not completed: {' | '.join(found)}" if found else "unpack job not completed"
    guided = message + (texts.GUIDANCE_PENDING if any(map(_is_pull_failure, states)) else "")
    words = sorted({one.last_words for pod in pods for one in pod.containers if one.last_words})
    cannot_pull = any(state.reason in _PULL_REASONS for state in states)
    return replace(running, message=guided, cause=" | ".join((*causes, *words)), cannot_pull=cannot_pull)


def explained(broken: Broken, pods: Sequence[Pod], causes: Sequence[str] = ()) -> Broken:
    """The result with the termination messages of the containers; the Job itself has only the number of failures."""
    last_words = [*(one.last_words for pod in pods for one in pod.containers if one.last_words), *causes]
    words = dict.fromkeys(text for text in last_words if text not in broken.message)
    return replace(broken, message=": ".join((broken.message, *words)))


def _age(job: Job, now: datetime) -> timedelta:
    return now - (job.created or now)


def job_of(result: UnpackResult) -> str:
    """The name of the Job that the result is about; empty without one."""
    match result:
        case Missing(job):
            return job
        case Running(job) | Stale(job) | Broken(job=job):
            return job.name
    return ""


def describe(result: UnpackResult) -> str:
    """The result as a short text."""
    match result:
        case Unpacked():
            return "unpacked"
        case Missing(job):
            return f"Job {job} is made"
        case Running(job, cause=cause):
            return f"Job {job.name} is at work" + (f", but {cause}" if cause else "")
        case Pulling():
            return "a worker pulls its image"
        case Stale(job):
            return f"Job {job.name} is made anew"
        case Broken(reason):
            return f"failed, {reason}"
        case Prevented():
            return "prevented"
        case Refused(message):
            return message
        case never:
            assert_never(never)


def _pending(pod: Pod, container: ContainerStatus) -> str:
    text, state = f"Unpack pod({pod.namespace}/{pod.name}) container({container.name}) is pending", container.waiting
    return f"{text}. Reason: {state.reason}, Message: {state.message}" if state else text


def _is_pull_failure(state: StoredCondition) -> bool:
    """Whether the kubelet or the registry says that an image cannot be pulled; the latter only in words."""
    words = (*_PULL_REASONS, "manifest unknown", "unauthorized")
    return any(word in text for text in (state.reason, state.message) for word in words)


def _after_failure(desired: Unpacking, ranked: Sequence[Job], failure: StoredCondition, now: datetime) -> UnpackResult:
    retry = desired.limits.retry
    since = failure.since or now
    if retry > timedelta() and now - since > retry:
        suffix = hashlib.sha256(ranked[0].uid.encode()).hexdigest()[:5]
        return Missing(f"{desired.name[:STEM]}{suffix}", surplus(ranked))
    if not retry and now - since > _JOB_TTL:
        return Stale(ranked[0])
    again_in = since + (retry or _JOB_TTL) - now + timedelta(seconds=1)
    return Broken(failure.reason, failure.message, again_in, ranked[0], since)
