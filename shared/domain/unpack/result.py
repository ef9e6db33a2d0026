"""Decides the state of unpacking one bundle, and the next action (catalog.md §5.3, §5.4)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TypeAlias, assert_never

from shared.api.manifest import Manifest, ReadOnly, annotations_of, instant, metadata, name_of, uid_of
from shared.domain.bundle.model import BadBundle
from shared.domain.subset import covers
from shared.domain.unpack import texts
from shared.domain.unpack.content import bundle_in
from shared.domain.unpack.objects import STEM, Unpacking
from shared.domain.unpack.registries import NONE, Registries
from shared.domain.unsupported import BUNDLE, unsupported
from shared.kinds import Ref

_JOB_TTL = timedelta(minutes=5)
_RETAINED = 5
_USUAL_PULL = timedelta(seconds=10)
_BEFORE = datetime.min.replace(tzinfo=UTC)
SOON = timedelta(seconds=2)
"""When a Job that was just made is looked at: by then its controller or the kubelet may have refused its Pod."""
_RARELY = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The ConfigMap contains the bundle, or will when it is written."""

    config_map: Manifest


@dataclass(frozen=True, slots=True)
class Missing:
    """No Job runs: start a Job of this name."""

    job: str
    surplus: tuple[ReadOnly, ...] = ()
    """Old failed Jobs to delete."""
    registries: Registries = NONE


@dataclass(frozen=True, slots=True)
class Running:
    """A Job is running."""

    job: ReadOnly
    message: str = ""
    """What its containers wait for, in OLM's words."""
    cause: str = ""
    """Why it does not come to its end; empty while all is as usual."""
    again_in: timedelta = SOON


@dataclass(frozen=True, slots=True)
class Stale:
    """A Job made with other settings, or whose failure is old: delete it; the next check starts another."""

    job: ReadOnly


@dataclass(frozen=True, slots=True)
class Broken:
    """The Job failed; `again_in` is the time until the next attempt."""

    reason: str
    message: str
    again_in: timedelta
    job: ReadOnly = field(default_factory=dict)
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


UnpackResult: TypeAlias = Unpacked | Missing | Running | Stale | Broken | Prevented | Refused


def is_filled(config_map: ReadOnly, path: str) -> bool:
    """Whether the ConfigMap contains the manifests of that image."""
    has_content = bool(config_map.get("binaryData") or config_map.get("data"))
    return has_content and annotations_of(config_map).get("olm.sourceImage", path) == path


def known(wanted: Unpacking, config_map: Manifest | None) -> UnpackResult | None:
    """The result if it does not depend on Jobs; else None."""
    if config_map is not None and is_filled(config_map, wanted.path):
        bundle = bundle_in(config_map, wanted.expected)
        return Prevented(bundle.message) if isinstance(bundle, BadBundle) else Unpacked(config_map)
    if wanted.limits.problem:
        return Prevented(wanted.limits.problem)
    if lacking := unsupported(BUNDLE, {"image": wanted.path}):
        return Prevented(lacking)
    return None


def judge(wanted: Unpacking, jobs: Sequence[ReadOnly], now: datetime) -> UnpackResult:
    """The result for a bundle whose ConfigMap is not filled."""
    ranked = ranking(jobs)
    if not ranked:
        return Missing(wanted.name)
    chosen = ranked[0]
    if not covers(chosen.get("spec"), wanted.job(name_of(chosen), Registries.told(chosen))["spec"]):
        return Stale(chosen)  # made with other settings: this also ends a failure that was caused by a setting
    failure = condition(chosen, "Failed")
    if failure is not None:
        return _after_failure(wanted, ranked, failure, now)
    if condition(chosen, "Complete") is None:
        return Running(chosen, again_in=min(max(_age(chosen, now), SOON), _RARELY))
    finished = instant((chosen.get("status") or {}).get("completionTime")) or now
    if now - finished > _JOB_TTL:
        return Stale(chosen)
    message = f"unpack job {name_of(chosen)} has completed, but ConfigMap {wanted.name} holds no manifests"
    return Broken("EmptyBundle", message, finished + _JOB_TTL - now + timedelta(seconds=1), chosen, finished)


def refused(wanted: Unpacking, ref: Ref, message: str) -> Refused:
    """The result for a bundle after the API server refused a write of an unpack object, its own or another's."""
    told = f"{ref.kind} {ref.namespace}/{ref.name} cannot be written, the API server refuses it: {message}"
    return Refused(told, is_behind=not wanted.has(ref))


def to_create(wanted: Unpacking, result: UnpackResult) -> tuple[Manifest, ...]:
    """The objects to create for the result."""
    return wanted.objects(result.job, result.registries) if isinstance(result, Missing) else ()


def to_delete(result: UnpackResult) -> tuple[ReadOnly, ...]:
    """The Jobs to delete for the result."""
    match result:
        case Missing(surplus=jobs):
            return jobs
        case Stale(job):
            return (job,)
    return ()


def ranking(jobs: Sequence[ReadOnly]) -> list[ReadOnly]:
    """The Jobs in order: not failed before failed; each newest first, by creation or by failure."""

    def rank(job: ReadOnly) -> tuple[bool, str]:
        failure = condition(job, "Failed")
        return failure is None, str((failure or {}).get("lastTransitionTime") or metadata(job).get("creationTimestamp"))

    return sorted(jobs, key=rank, reverse=True)


def surplus(ranked: Sequence[ReadOnly], retained: int = _RETAINED) -> tuple[ReadOnly, ...]:
    """The old Jobs beyond those retained, at most five, never the oldest one."""
    return tuple(ranked[max(retained, 1) : -1 if retained else None][:5])


def condition(job: ReadOnly, kind: str) -> ReadOnly | None:
    """The condition of that type if its status is `True`; else None."""
    conditions = (job.get("status") or {}).get("conditions") or ()
    return next((one for one in conditions if one.get("type") == kind and one.get("status") == "True"), None)


def is_over(job: ReadOnly) -> bool:
    """Whether the Job has completed or failed."""
    return condition(job, "Complete") is not None or condition(job, "Failed") is not None


def is_slow(running: Running, now: datetime) -> bool:
    """Whether the Job takes longer than a pull usually does, so that its rights should be checked."""
    return _age(running.job, now) > _USUAL_PULL


def is_fresh(running: Running, now: datetime) -> bool:
    """Whether the Job was made just now, so that nothing can have gone wrong yet."""
    return _age(running.job, now) < SOON


def waiting(running: Running, pods: Sequence[ReadOnly], causes: Sequence[str] = ()) -> Running:
    """The result with the reason for which its pods wait, and what those said that ended already."""
    found = [detail for pod in pods if (pod.get("status") or {}).get("phase") == "Pending" for detail in _details(pod)]
    message = f"unpack job not completed: {' | '.join(found)}" if found else "unpack job not completed"
    guided = message + (texts.GUIDANCE_PENDING if texts.is_pull_failure(message) else "")
    words = sorted({text for pod in pods for text in _last_words(pod)})
    return replace(running, message=guided, cause=" | ".join((*causes, *words)))


def explained(broken: Broken, pods: Sequence[ReadOnly], causes: Sequence[str] = ()) -> Broken:
    """The result with the termination messages of the containers; the Job itself has only the number of failures."""
    said = [*(text for pod in pods for text in _last_words(pod)), *causes]
    words = dict.fromkeys(text for text in said if text not in broken.message)
    return replace(broken, message=": ".join((broken.message, *words)))


def _age(job: ReadOnly, now: datetime) -> timedelta:
    return now - (instant(metadata(job).get("creationTimestamp")) or now)


def _last_words(pod: ReadOnly) -> Iterator[str]:
    for container in (pod.get("status") or {}).get("containerStatuses") or ():
        ended = (container.get("state") or {}).get("terminated") or {}
        if text := str(ended.get("message") or "").strip():
            yield text


def spoken(result: UnpackResult) -> str:
    """The result as a short text."""
    match result:
        case Unpacked():
            return "unpacked"
        case Missing(job):
            return f"Job {job} is made"
        case Running(job, cause=cause):
            return f"Job {name_of(job)} is at work" + (f", but {cause}" if cause else "")
        case Stale(job):
            return f"Job {name_of(job)} is made anew"
        case Broken(reason):
            return f"failed, {reason}"
        case Prevented():
            return "prevented"
        case Refused(message):
            return message
        case never:
            assert_never(never)


def _details(pod: ReadOnly) -> list[str]:
    status, meta = pod.get("status") or {}, metadata(pod)
    found = []
    for container in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        if not container.get("ready"):
            text = (
                f"Unpack pod({meta.get('namespace')}/{meta.get('name')}) container({container.get('name')}) is pending"
            )
            held = (container.get("state") or {}).get("waiting")
            found.append(f"{text}. Reason: {held.get('reason')}, Message: {held.get('message')}" if held else text)
    return found


def _after_failure(wanted: Unpacking, ranked: Sequence[ReadOnly], failure: ReadOnly, now: datetime) -> UnpackResult:
    retry = wanted.limits.retry
    since = instant(failure.get("lastTransitionTime")) or now
    if retry > timedelta() and now - since > retry:
        suffix = hashlib.sha256(uid_of(ranked[0]).encode()).hexdigest()[:5]
        return Missing(f"{wanted.name[:STEM]}{suffix}", surplus(ranked))
    if not retry and now - since > _JOB_TTL:
        return Stale(ranked[0])
    again_in = since + (retry or _JOB_TTL) - now + timedelta(seconds=1)
    reason, message = str(failure.get("reason") or ""), str(failure.get("message") or "")
    return Broken(reason, message, again_in, ranked[0], since)
