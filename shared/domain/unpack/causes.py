"""Why an unpack Job does not come to its end: what its Events, its Pods and their containers say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shared import kinds
from shared.api.manifest import ReadOnly, metadata, name_of, namespace_of, uid_of
from shared.domain.conditions import find
from shared.kinds import Ref

_MOST: Final = 3
"""Number of causes that are said."""
_PODS: Final = 2
"""Number of Pods, the newest, whose Events are read."""
_LONGEST: Final = 500
_CALM: Final = ("", "ContainerCreating", "PodInitializing")
"""Why a container waits that soon starts."""
_OF_THE_JOB: Final = ("DeadlineExceeded", "BackoffLimitExceeded")
"""What the conditions of the Job say, too."""
_ECHOES: Final = ("Error: ErrImagePull", "Error: ImagePullBackOff", "Back-off ")
"""How Events begin that say again, without the cause, what another one said."""


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning that an Event states about an object."""

    reason: str
    message: str


def asked_about(job: ReadOnly, pods: Sequence[ReadOnly]) -> tuple[tuple[Ref, str], ...]:
    """The Job and its newest Pods, with their uids: whose Events may say why it does not end."""
    return ((_job(job), uid_of(job)), *((_pod(pod), uid_of(pod)) for pod in _newest_of(pods)))


def causes(job: ReadOnly, pods: Sequence[ReadOnly], warnings: Mapping[Ref, Sequence[Warned]]) -> tuple[str, ...]:
    """Each cause as a sentence, those of the Job first; the same ones as long as nothing changes.

    `warnings` are what Events state about each object that `asked_about` names.
    """
    of_pods = (text for pod in _newest_of(pods) for text in _of_pod(pod, warnings[_pod(pod)]))
    found = [*_of_job(job, warnings[_job(job)]), *of_pods]
    named = re.compile(rf"\b{re.escape(name_of(job))}-[a-z0-9]{{5}}\b")  # each try of a Pod has another name
    return tuple(dict.fromkeys(named.sub(f"{name_of(job)}-*", text)[:_LONGEST] for text in found))[:_MOST]


def _job(job: ReadOnly) -> Ref:
    return kinds.JOB.ref(name_of(job), namespace_of(job))


def _pod(pod: ReadOnly) -> Ref:
    return kinds.POD.ref(name_of(pod), namespace_of(pod))


def _newest_of(pods: Sequence[ReadOnly]) -> Sequence[ReadOnly]:
    return sorted(pods, key=lambda pod: str(metadata(pod).get("creationTimestamp") or ""))[-_PODS:]


def _of_job(job: ReadOnly, warnings: Sequence[Warned]) -> Iterator[str]:
    place = f"Job {namespace_of(job)}/{name_of(job)}"
    for reason, message in _newest(warnings):
        if reason not in _OF_THE_JOB:
            yield f"{place}: {reason}: {message}"


def _of_pod(pod: ReadOnly, warnings: Sequence[Warned]) -> list[str]:
    """What its Events say; without any, what it says itself."""
    told = _newest(warnings)
    has_place = bool((pod.get("spec") or {}).get("nodeName"))
    found = [(reason, message) for reason, message in told if not (has_place and reason == "FailedScheduling")]
    place = f"Pod {namespace_of(pod)}/{name_of(pod)}"
    return [f"{place}: {reason}: {message}" for reason, message in found or _own_words(pod)]


def _newest(warnings: Sequence[Warned]) -> list[tuple[str, str]]:
    """The newest message of each reason, without echoes where something else was said."""
    said = [one for one in warnings if not one.message.startswith(_ECHOES)]
    return list({one.reason: one.message for one in said or warnings}.items())


def _own_words(pod: ReadOnly) -> Iterator[tuple[str, str]]:
    status = pod.get("status") or {}
    if status.get("reason"):
        yield str(status["reason"]), str(status.get("message") or "")
    scheduled = find(status, "PodScheduled") or {}
    if scheduled.get("status") == "False":
        yield str(scheduled.get("reason") or ""), str(scheduled.get("message") or "")
    for container in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        waiting = (container.get("state") or {}).get("waiting") or {}
        if (reason := str(waiting.get("reason") or "")) not in _CALM:
            yield reason, str(waiting.get("message") or "")
