"""The conditions of Subscriptions about the unpacking of their component's bundles (catalog.md §3.7 F)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.api.manifest import Manifest
from shared.api.views import Subscription
from shared.domain.conditions import Condition
from shared.domain.resolver.model import Chosen, Resolution
from shared.domain.statement import Code, Statement
from shared.domain.subscription.conditions import BUNDLE_UNPACK_FAILED, BUNDLE_UNPACKING, changed
from shared.domain.unpack import texts
from shared.domain.unpack.result import (
    SOON,
    Broken,
    Missing,
    Prevented,
    Pulling,
    Refused,
    Running,
    Stale,
    Unpacked,
    UnpackResult,
    describe,
    job_of,
)
from shared.kinds import CLUSTER_SERVICE_VERSION, JOB, SUBSCRIPTION, Ref

_REFUSED_AGAIN = timedelta(seconds=30)
"""Interval of attempts while the API server refuses the objects: a quota that is raised causes no event."""

_UNDER_WAY = "UnpackingInProgress"
REFUSED = "UnpackingRefused"
"""The reason of `BundleUnpacking` then."""

_JUST_BEGUN = timedelta(seconds=10)
"""A Job is looked at anyway in that time, and again later (`Running.again_in`)."""

CONDITIONS = (BUNDLE_UNPACKING, BUNDLE_UNPACK_FAILED)
"""The conditions that are set here; they are removed here, or when the plan is written (`write_install_plan`)."""


CODES: Mapping[type[UnpackResult], Code] = {
    Unpacked: Code.UNPACKED,
    Missing: Code.UNPACKING,
    Running: Code.UNPACKING,
    Pulling: Code.UNPACKING,
    Stale: Code.UNPACKING,
    Broken: Code.UNPACK_FAILED,
    Prevented: Code.UNPACK_PREVENTED,
    Refused: Code.UNPACK_REFUSED,
}
"""What each result is called in a statement."""


@dataclass(frozen=True, slots=True)
class Report:
    """The one condition to set, if any, and whether the component is ready for its plan."""

    condition: Condition | None = None
    is_unpacked: bool = False
    again_in: timedelta | None = None
    is_behind: bool = False
    """The condition is about the bundle of another component."""


@dataclass(frozen=True, slots=True)
class NewStatus:
    """A Subscription with a new status."""

    subscription: Subscription
    status: Manifest
    failure: str = ""
    """The message of an Event to write; empty for none."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The state of unpacking in a namespace."""

    statuses: tuple[NewStatus, ...]
    is_any_ready: bool
    again_in: timedelta | None
    waits: str = ""
    """What the first waiting Subscription waits for."""
    since: datetime | None = None
    about: tuple[Ref, ...] = ()
    """That Subscription."""


def is_just_begun(subscription: Subscription, now: datetime) -> bool:
    """Whether unpacking was started a moment ago: events of the Job, or the interval, run the step again."""
    if not subscription.has_condition(BUNDLE_UNPACKING):
        return False
    return timedelta() <= now - (subscription.condition(BUNDLE_UNPACKING).since or now) < _JUST_BEGUN


def summarise(
    subscriptions: Sequence[Subscription], resolution: Resolution, results: Mapping[str, UnpackResult], now: datetime
) -> Summary:
    """The new statuses of the Subscriptions; `results` are by bundle name. A failure affects only its component."""
    reports = {
        name: report([results[chosen.bundle.name] for chosen in component.chosen])
        for component in resolution.components
        for name in component.subscribers
    }
    statuses, waits, begun = [], "", None
    about: tuple[Ref, ...] = ()
    for subscription in subscriptions:
        mine = reports.get(subscription.name, Report())
        if mine.is_unpacked:
            continue  # its condition stays true until its plan is written, which removes it
        if mine.is_behind and _is_refused(subscription):
            continue  # it has said so of its own bundle, or of the first one that was refused
        condition = mine.condition
        if condition is not None and not waits:
            waits = f"{subscription.name}: {condition.message or 'its bundle is being unpacked'}"
            begun, about = subscription.condition(condition.type).since or now, (Ref.of(subscription),)
        drop = [kind for kind in CONDITIONS if condition is None or kind != condition.type]
        new = changed(subscription.status, now, put=[condition] if condition else [], drop=drop)
        if new is not None:
            is_failure = condition is not None and condition.reason != _UNDER_WAY
            statuses.append(NewStatus(subscription, new, condition.message if condition and is_failure else ""))
    times = [one.again_in for one in reports.values() if one.again_in is not None]
    is_any_ready = any(one.is_unpacked for one in reports.values())
    return Summary(tuple(statuses), is_any_ready, min(times, default=None), waits, begun, about)


def statements(namespace: str, resolution: Resolution, results: Mapping[str, UnpackResult]) -> Iterator[Statement]:
    """What was found about each bundle; about its version, its Job, and who subscribes to it."""
    chosen_as = {one.bundle.name: one for one in resolution.chosen}
    for name, result in results.items():
        chosen = chosen_as[name]
        about = (
            CLUSTER_SERVICE_VERSION.ref_or_none(name, namespace),
            JOB.ref_or_none(job_of(result), chosen.catalog.key.namespace),
            *(SUBSCRIPTION.ref(one, namespace) for one in chosen.subscribers),
        )
        yield Statement(tuple(filter(None, about)), CODES[type(result)], f"{name}: {describe(result)}")


def fairly_ordered(chosen: Sequence[Chosen], now: datetime) -> tuple[Chosen, ...]:
    """The bundles, another one first after each interval: none that is refused keeps the others out for ever."""
    start = int(now.timestamp() // _REFUSED_AGAIN.total_seconds()) % max(len(chosen), 1)
    return (*chosen[start:], *chosen[:start])


def _is_refused(subscription: Subscription) -> bool:
    return subscription.condition(BUNDLE_UNPACKING).reason == REFUSED


def has_unpack_condition(subscription: Subscription) -> bool:
    """Whether the Subscription has a condition about unpacking, which may be out of date."""
    return any(map(subscription.has_condition, CONDITIONS))


def report(results: Sequence[UnpackResult]) -> Report:
    """The report of a component: an error overrides a failure, that a refusal, that a Job; else it is ready."""
    prevented = [one.message for one in results if isinstance(one, Prevented)]
    failures = [one for one in results if isinstance(one, Broken)]
    again_in = min((one.again_in for one in failures), default=None)
    if prevented:
        return Report(
            Condition(BUNDLE_UNPACK_FAILED, "True", "ErrorPreventedUnpacking", prevented[0]), again_in=again_in
        )
    if failures:
        message = texts.failed(failures[0].reason, failures[0].message, has_job=bool(failures[0].job.name))
        return Report(Condition(BUNDLE_UNPACK_FAILED, "True", "BundleUnpackFailed", message), again_in=again_in)
    if refused := sorted((one for one in results if isinstance(one, Refused)), key=lambda one: one.is_behind):
        condition = Condition(BUNDLE_UNPACKING, "True", REFUSED, refused[0].message)
        return Report(condition, again_in=_REFUSED_AGAIN, is_behind=refused[0].is_behind)
    if all(isinstance(one, Unpacked) for one in results):
        return Report(is_unpacked=bool(results))
    messages = [texts.unpacking(one.cause, cannot_pull=one.cannot_pull) for one in results if isinstance(one, Running)]
    again_in = min(
        one.again_in if isinstance(one, Running | Pulling) else SOON for one in results if not _is_there(one)
    )
    return Report(Condition(BUNDLE_UNPACKING, "True", _UNDER_WAY, next(filter(None, messages), "")), again_in=again_in)


def _is_there(result: UnpackResult) -> bool:
    return isinstance(result, Unpacked)
