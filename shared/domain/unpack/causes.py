"""Why an unpack Job does not come to its end: what its Events, its Pods and their containers say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shared import kinds
from shared.api.views import Job, Pod
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


def event_objects(job: Job, pods: Sequence[Pod]) -> tuple[tuple[Ref, str], ...]:
    """The Job and its newest Pods, with their uids: whose Events may say why it does not end."""
    return ((_job(job), job.uid), *((_pod(pod), pod.uid) for pod in _newest_of(pods)))


def causes(job: Job, pods: Sequence[Pod], warnings: Mapping[Ref, Sequence[Warned]]) -> tuple[str, ...]:
    """Each cause as a sentence, those of the Job first; the same ones as long as nothing changes.

    `warnings` are what Events state about each object that `event_objects` names.
    """
    of_pods = (text for pod in _newest_of(pods) for text in _of_pod(pod, warnings[_pod(pod)]))
    found = [*_of_job(job, warnings[_job(job)]), *of_pods]
    named = re.compile(rf"\b{re.escape(job.name)}-[a-z0-9]{{5}}\b")  # each try of a Pod has another name
    return tuple(dict.fromkeys(named.sub(f"{job.name}-*", text)[:_LONGEST] for text in found))[:_MOST]


def _job(job: Job) -> Ref:
    return kinds.JOB.ref(job.name, job.namespace)


def _pod(pod: Pod) -> Ref:
    return kinds.POD.ref(pod.name, pod.namespace)


def _newest_of(pods: Sequence[Pod]) -> Sequence[Pod]:
    return sorted(pods, key=lambda pod: pod.age_key)[-_PODS:]


def _of_job(job: Job, warnings: Sequence[Warned]) -> Iterator[str]:
    place = f"Job {job.namespace}/{job.name}"
    for reason, message in _newest(warnings):
        if reason not in _OF_THE_JOB:
            yield f"{place}: {reason}: {message}"


def _of_pod(pod: Pod, warnings: Sequence[Warned]) -> list[str]:
    """What its Events say; without any, what it says itself."""
    newest = _newest(warnings)
    found = [(reason, message) for reason, message in newest if not (pod.node and reason == "FailedScheduling")]
    place = f"Pod {pod.namespace}/{pod.name}"
    return [f"{place}: {reason}: {message}" for reason, message in found or _own_words(pod)]


def _newest(warnings: Sequence[Warned]) -> list[tuple[str, str]]:
    """The newest message of each reason, without echoes where something else was said."""
    specific = [one for one in warnings if not one.message.startswith(_ECHOES)]
    return list({one.reason: one.message for one in specific or warnings}.items())


def _own_words(pod: Pod) -> Iterator[tuple[str, str]]:
    if pod.reason:
        yield pod.reason, pod.message
    scheduled = pod.condition("PodScheduled")
    if scheduled.status == "False":
        yield scheduled.reason, scheduled.message
    for container in (*pod.init_containers, *pod.containers):
        if (waiting := container.waiting) and waiting.reason not in _CALM:
            yield waiting.reason, waiting.message
