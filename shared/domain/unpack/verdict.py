"""How far the unpacking of one bundle is, and what is to be done about it (catalog.md §5.3, §5.4)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias, assert_never

from shared.api.manifest import Manifest, ReadOnly, annotations_of, metadata, name_of, uid_of
from shared.domain.bundle.model import BadBundle
from shared.domain.unpack import texts
from shared.domain.unpack.content import bundle_in
from shared.domain.unpack.objects import Unpacking

_JOB_TTL = timedelta(minutes=5)
_RETAINED = 5
_USUAL_PULL = timedelta(seconds=10)
_BEFORE = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The ConfigMap holds the bundle, or will when it is written."""

    config_map: Manifest


@dataclass(frozen=True, slots=True)
class Missing:
    """Nothing is at work: start a Job of this name."""

    job: str
    surplus: tuple[ReadOnly, ...] = ()
    """Old failed Jobs to delete."""
    mirrors: str = ""
    """What it has to know of mirrors."""


@dataclass(frozen=True, slots=True)
class Running:
    """A Job is at work."""

    job: ReadOnly
    message: str = ""


@dataclass(frozen=True, slots=True)
class Stale:
    """A Job that was made for other wishes, or whose failure has lasted: delete it, the next look starts another."""

    job: ReadOnly


@dataclass(frozen=True, slots=True)
class Broken:
    """It failed; `again_in` is when the next try is due."""

    reason: str
    message: str
    again_in: timedelta
    job: ReadOnly = field(default_factory=dict)
    since: datetime = _BEFORE


@dataclass(frozen=True, slots=True)
class Prevented:
    """Nothing can be tried as things are."""

    message: str


Verdict: TypeAlias = Unpacked | Missing | Running | Stale | Broken | Prevented


def is_filled(config_map: ReadOnly, path: str) -> bool:
    """The ConfigMap holds the manifests of that very image."""
    has_content = bool(config_map.get("binaryData") or config_map.get("data"))
    return has_content and annotations_of(config_map).get("olm.sourceImage", path) == path


def known(wanted: Unpacking, config_map: Manifest | None) -> Verdict | None:
    """What can be told without looking at Jobs; None when they decide."""
    if config_map is not None and is_filled(config_map, wanted.path):
        bundle = bundle_in(config_map)
        return Prevented(bundle.message) if isinstance(bundle, BadBundle) else Unpacked(config_map)
    if wanted.limits.problem:
        return Prevented(wanted.limits.problem)
    if not wanted.path:
        return Prevented("the bundle names no image; bundles inside catalogs are not served yet")
    return None


def judge(wanted: Unpacking, jobs: Sequence[ReadOnly], now: datetime) -> Verdict:
    """What to do about a bundle whose ConfigMap is not filled."""
    ranked = ranking(jobs)
    if not ranked:
        return Missing(wanted.name)
    chosen = ranked[0]
    if not _contains(chosen.get("spec"), wanted.job(name_of(chosen))["spec"]):
        return Stale(chosen)  # made for other wishes: also the way out of a failure whose cause was a setting
    failure = condition(chosen, "Failed")
    if failure is not None:
        return _after_failure(wanted, ranked, failure, now)
    if condition(chosen, "Complete") is None:
        return Running(chosen)
    finished = _instant((chosen.get("status") or {}).get("completionTime"), now)
    if now - finished > _JOB_TTL:
        return Stale(chosen)
    message = f"unpack job {name_of(chosen)} has completed, but ConfigMap {wanted.name} holds no manifests"
    return Broken("EmptyBundle", message, finished + _JOB_TTL - now + timedelta(seconds=1), chosen, finished)


def to_create(wanted: Unpacking, verdict: Verdict) -> tuple[Manifest, ...]:
    """The objects that the verdict calls for."""
    return wanted.objects(verdict.job, verdict.mirrors) if isinstance(verdict, Missing) else ()


def to_delete(verdict: Verdict) -> tuple[ReadOnly, ...]:
    """The Jobs that the verdict has no use for."""
    match verdict:
        case Missing(surplus=jobs):
            return jobs
        case Stale(job):
            return (job,)
    return ()


def ranking(jobs: Sequence[ReadOnly]) -> list[ReadOnly]:
    """Not failed before failed; each newest first, by creation or by failure."""

    def rank(job: ReadOnly) -> tuple[bool, str]:
        failure = condition(job, "Failed")
        return failure is None, str((failure or {}).get("lastTransitionTime") or metadata(job).get("creationTimestamp"))

    return sorted(jobs, key=rank, reverse=True)


def surplus(ranked: Sequence[ReadOnly], retained: int = _RETAINED) -> tuple[ReadOnly, ...]:
    """Old Jobs beyond those retained, at most five of them, never the oldest."""
    return tuple(ranked[max(retained, 1) : -1 if retained else None][:5])


def condition(job: ReadOnly, kind: str) -> ReadOnly | None:
    """The condition of that type if it is true."""
    conditions = (job.get("status") or {}).get("conditions") or ()
    return next((one for one in conditions if one.get("type") == kind and one.get("status") == "True"), None)


def is_over(job: ReadOnly) -> bool:
    """The Job has completed or failed."""
    return condition(job, "Complete") is not None or condition(job, "Failed") is not None


def is_slow(running: Running, now: datetime) -> bool:
    """The Job is older than a pull usually takes: worth asking its pods."""
    return now - _instant(metadata(running.job).get("creationTimestamp"), now) > _USUAL_PULL


def waiting(running: Running, pods: Sequence[ReadOnly]) -> Running:
    """The same, with what its pods wait for."""
    found = [detail for pod in pods if (pod.get("status") or {}).get("phase") == "Pending" for detail in _details(pod)]
    message = f"unpack job not completed: {' | '.join(found)}" if found else "unpack job not completed"
    return replace(running, message=message + (texts.GUIDANCE_PENDING if texts.is_pull_failure(message) else ""))


def explained(broken: Broken, pods: Sequence[ReadOnly]) -> Broken:
    """The same, with the last words of its containers: the Job itself only counts how often they failed."""
    words = dict.fromkeys(text for pod in pods for text in _last_words(pod) if text not in broken.message)
    return replace(broken, message=": ".join((broken.message, *words)))


def _last_words(pod: ReadOnly) -> Iterator[str]:
    for container in (pod.get("status") or {}).get("containerStatuses") or ():
        ended = (container.get("state") or {}).get("terminated") or {}
        if text := str(ended.get("message") or "").strip():
            yield text


def spoken(verdict: Verdict) -> str:
    """The verdict in a word or two."""
    match verdict:
        case Unpacked():
            return "unpacked"
        case Missing(job):
            return f"Job {job} is made"
        case Running(job):
            return f"Job {name_of(job)} is at work"
        case Stale(job):
            return f"Job {name_of(job)} is made anew"
        case Broken(reason):
            return f"failed, {reason}"
        case Prevented():
            return "prevented"
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


def _after_failure(wanted: Unpacking, ranked: Sequence[ReadOnly], failure: ReadOnly, now: datetime) -> Verdict:
    retry = wanted.limits.retry
    since = _instant(failure.get("lastTransitionTime"), now)
    if retry > timedelta() and now - since > retry:
        suffix = hashlib.sha256(uid_of(ranked[0]).encode()).hexdigest()[:5]
        return Missing(f"{wanted.name[:58]}{suffix}", surplus(ranked))
    if not retry and now - since > _JOB_TTL:
        return Stale(ranked[0])
    again_in = since + (retry or _JOB_TTL) - now + timedelta(seconds=1)
    reason, message = str(failure.get("reason") or ""), str(failure.get("message") or "")
    return Broken(reason, message, again_in, ranked[0], since)


def _contains(live: Any, wanted: Any) -> bool:
    """Everything wanted is there; what the server or others added does not count."""
    match wanted:
        case Mapping():
            return isinstance(live, Mapping) and all(_contains(live.get(key), value) for key, value in wanted.items())
        case list() | tuple():
            return isinstance(live, list) and len(live) == len(wanted) and all(map(_contains, live, wanted))
    return bool(live == wanted)


def _instant(text: object, default: datetime) -> datetime:
    return datetime.fromisoformat(str(text)).astimezone(UTC) if text else default
