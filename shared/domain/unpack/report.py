"""What the Subscriptions of a component say about the unpacking of their bundles (catalog.md §3.7 F)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.domain.resolver import Resolution
from shared.domain.subscription.conditions import (
    BUNDLE_UNPACK_FAILED,
    BUNDLE_UNPACKING,
    Condition,
    changed,
    find,
    since,
)
from shared.domain.unpack import texts
from shared.domain.unpack.verdict import Broken, Prevented, Running, Unpacked, Verdict

_RUNNING_AGAIN = timedelta(seconds=15)
"""Events of the Job ring at once; what its pods complain about has to be looked for."""

_JUST_BEGUN = timedelta(seconds=10)
"""Less than `_RUNNING_AGAIN`, after which unpacking looks again by itself."""

CONDITIONS = (BUNDLE_UNPACKING, BUNDLE_UNPACK_FAILED)
"""The conditions that are put here; they go here, too, or with the plan that takes over (`write_install_plan`)."""


@dataclass(frozen=True, slots=True)
class Report:
    """The one condition that holds, if any, and whether the component can go on."""

    condition: Condition | None = None
    is_unpacked: bool = False
    again_in: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A Subscription that says something new."""

    subscription: ReadOnly
    status: Manifest
    failure: str = ""
    """The message to put into an Event, too."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Where the unpacking of a namespace stands."""

    told: tuple[Told, ...]
    is_any_ready: bool
    again_in: timedelta | None
    waits: str = ""
    """What the first Subscription that cannot go on waits for."""
    since: datetime | None = None


def is_just_begun(subscription: ReadOnly, now: datetime) -> bool:
    """Unpacking was started a moment ago: its Job will ring, and so will the clock; until then nothing is new."""
    status = subscription.get("status") or {}
    if find(status, BUNDLE_UNPACKING) is None:
        return False
    return timedelta() <= now - since(status, BUNDLE_UNPACKING, now) < _JUST_BEGUN


def summarise(
    subscriptions: Sequence[ReadOnly], resolution: Resolution, verdicts: Mapping[str, Verdict], now: datetime
) -> Summary:
    """What the Subscriptions say; `verdicts` are by bundle name. A failure stays in its component."""
    reports = {
        name: report([verdicts[chosen.bundle.name] for chosen in component.chosen])
        for component in resolution.components
        for name in component.subscribers
    }
    told, waits, begun = [], "", None
    for subscription in subscriptions:
        mine, status = reports.get(name_of(subscription), Report()), subscription.get("status") or {}
        if mine.is_unpacked:
            continue  # what it says stays true until its plan is there, and goes with the plan's arrival
        condition = mine.condition
        if condition is not None and not waits:
            waits = f"{name_of(subscription)}: {condition.message or 'its bundle is being unpacked'}"
            begun = since(status, condition.type, now)
        drop = [kind for kind in CONDITIONS if condition is None or kind != condition.type]
        new = changed(status, now, put=[condition] if condition else [], drop=drop)
        if new is not None:
            is_failure = condition is not None and condition.type == BUNDLE_UNPACK_FAILED
            told.append(Told(subscription, new, condition.message if condition and is_failure else ""))
    times = [one.again_in for one in reports.values() if one.again_in is not None]
    is_any_ready = any(one.is_unpacked for one in reports.values())
    return Summary(tuple(told), is_any_ready, min(times, default=None), waits, begun)


def has_unpack_condition(subscription: ReadOnly) -> bool:
    """The Subscription says something about unpacking, which may have become untrue."""
    status = subscription.get("status") or {}
    return any(find(status, kind) for kind in CONDITIONS)


def report(verdicts: Sequence[Verdict]) -> Report:
    """An error beats a failure, a failure what is still running; only when all are there the component goes on."""
    prevented = [one.message for one in verdicts if isinstance(one, Prevented)]
    failures = [one for one in verdicts if isinstance(one, Broken)]
    again_in = min((one.again_in for one in failures), default=None)
    if prevented:
        return Report(
            Condition(BUNDLE_UNPACK_FAILED, "True", "ErrorPreventedUnpacking", prevented[0]), again_in=again_in
        )
    if failures:
        message = texts.failed(failures[0].reason, failures[0].message)
        return Report(Condition(BUNDLE_UNPACK_FAILED, "True", "BundleUnpackFailed", message), again_in=again_in)
    if all(isinstance(one, Unpacked) for one in verdicts):
        return Report(is_unpacked=bool(verdicts))
    told = [texts.unpacking(one.message) for one in verdicts if isinstance(one, Running)]
    message = next(filter(None, told), "")
    return Report(Condition(BUNDLE_UNPACKING, "True", "UnpackingInProgress", message), again_in=_RUNNING_AGAIN)
