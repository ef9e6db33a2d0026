"""Follows a package until it is where it should be: reads only. What is done meanwhile is in `carry_on`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from eventing.cli.commands import quoted
from eventing.cli.requests.hints import catalog_of, is_catalog_ready, near
from eventing.cli.requests.request import PackageError
from eventing.cli.requests.subscribing import POLL_SECONDS, existing_subscription, waiting_plan
from eventing.cli.status_text import message_of
from eventing.diagnosis.status.chain import claimed, originals
from eventing.diagnosis.status.decider import decide
from eventing.diagnosis.status.fixes import unpinning
from eventing.diagnosis.status.groups import REASONS
from eventing.diagnosis.status.package_status import PackageStatus
from eventing.diagnosis.status.reader import Sources, package_among, status_of
from shared.api.views import Csv, Subscription
from shared.domain.command import olmf
from shared.kinds import CLUSTER_SERVICE_VERSION

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

STABLE_SECONDS = 3.0
"""How long a package must stand still to be taken for finished while plans are approved, or for stuck."""
ABSENT_SECONDS = 30.0
"""How long it must stand still without its catalog, which may be applied after the Subscription."""


class NotReadyError(PackageError):
    """The time is over; the sentence says what the package waits for."""


@dataclass(frozen=True, slots=True)
class Goal:
    """Where a package is to go."""

    namespace: str
    package: str
    timeout: timedelta
    is_newest: bool = False
    """To the newest version that it can get; else to any that works."""
    leaving: str = ""
    """The version that is not the goal."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A package at one moment."""

    status: PackageStatus
    plan: str
    """The plan that waits for approval; empty: none."""
    unchanged_seconds: float
    """Since when its status is the same."""
    is_over: bool
    """The time is over."""

    @property
    def is_stable(self) -> bool:
        """It stands still."""
        return self.unchanged_seconds >= STABLE_SECONDS

    @property
    def is_new(self) -> bool:
        """The status has just changed."""
        return self.unchanged_seconds == 0


def observations(cluster: KubeClient, goal: Goal) -> Iterator[Observation]:
    """The package as it is, again and again; the first look after a change of its status is new."""
    deadline = time.monotonic() + goal.timeout.total_seconds()
    last, since = None, 0.0
    while True:
        now, at = stand(cluster, goal.namespace, goal.package), time.monotonic()
        if now != last:
            last, since = now, at
        plan = waiting_plan(cluster, goal.namespace, goal.package)
        yield Observation(now, plan, at - since, is_over=time.monotonic() > deadline)
        time.sleep(POLL_SECONDS)


def is_reached(observation: Observation, goal: Goal) -> bool:
    """Whether the goal is reached: on the way to the newest version, when nothing newer came for a moment."""
    if not observation.status.is_done or observation.status.version == goal.leaving:
        return False
    return not goal.is_newest or observation.is_over or observation.is_stable


def check(cluster: KubeClient, observation: Observation, goal: Goal) -> None:
    """NotReadyError when the package cannot go on by itself, or the time is over."""
    if observation.is_stable and _is_stuck(cluster, observation, goal):
        raise NotReadyError(_stuck(cluster, _helped(cluster, goal), goal))
    if observation.is_over:
        raise NotReadyError(_late(_helped(cluster, goal), goal))


def change_of(observation: Observation, goal: Goal) -> str:
    """A line about a new status; why something is stuck is said at the end."""
    status = observation.status
    message = "" if status.is_stuck else status.whole_message
    return f"{goal.package}: {status.version or 'no version yet'} {status.phase}" + (f" ({message})" if message else "")


def to_approve(goal: Goal) -> str:
    """A line about a plan that waits."""
    command = quoted(olmf("approve", goal.package, namespace=goal.namespace))
    return f"{goal.package}: waits for approval; {command} approves it"


def kept(observation: Observation, goal: Goal) -> str:
    """What keeps the package from a newer version, and what lets it go; empty: nothing does."""
    now, package = observation.status, goal.package
    if now.held:
        release = quoted(olmf("hold", package, "--release", namespace=goal.namespace))
        more = f", and it is pinned to {now.pin}; {_unpin(now)} lifts the pin" if now.pin else ""
        return f"{package} is held at {now.held}; {release} lets it go{more}"
    if not (now.is_done and observation.is_stable):
        return ""
    if now.pinned:
        return f"{package} stays at {now.version}: {now.pinned}; {_unpin(now)} lets it go"
    return f"{package} stays: {now.stranded}{_more(now, goal)}" if now.stranded else ""


def _unpin(now: PackageStatus) -> str:
    return quoted(unpinning(now.subscription, now.namespace))


def stand(cluster: KubeClient, namespace: str, package: str) -> PackageStatus:
    """Where the package stands now, without what helps. PackageError when nothing subscribes to it."""
    subscription = Subscription(existing_subscription(cluster, namespace, package))
    return decide(package_among(subscription, _versions(cluster, subscription, namespace)))


def _helped(cluster: KubeClient, goal: Goal) -> PackageStatus:
    """Where the package stands, with what helps."""
    subscription = Subscription(existing_subscription(cluster, goal.namespace, goal.package))
    return status_of(Sources(cluster), subscription, _versions(cluster, subscription, goal.namespace))


def _versions(cluster: KubeClient, subscription: Subscription, namespace: str) -> dict[str, Csv]:
    """Its versions; none for a copy of what another namespace installed, which carries the same name."""
    found = (CLUSTER_SERVICE_VERSION.look_up(cluster.get, name, namespace) for name in claimed([subscription]))
    return {csv.name: csv for csv in originals(Csv.each(filter(None, found)))}


def _is_stuck(cluster: KubeClient, observation: Observation, goal: Goal) -> bool:
    """Only a person can help, and no catalog that is still read."""
    if observation.status.reason in REASONS:
        return _helped(cluster, goal).is_stuck
    if not observation.status.is_stuck:
        return False
    catalog = catalog_of(cluster, goal.namespace, goal.package)
    return observation.unchanged_seconds >= ABSENT_SECONDS if catalog is None else is_catalog_ready(catalog)


def _stuck(cluster: KubeClient, now: PackageStatus, goal: Goal) -> str:
    hint = near(cluster, goal.namespace, goal.package)
    return f"{goal.package} cannot go on: {message_of(now)}{hint}{_more(now, goal)}"


def _late(now: PackageStatus, goal: Goal) -> str:
    seconds = f"{goal.timeout.total_seconds():.0f} s"
    if now.is_done:
        return (
            f"{goal.package} still is at {now.version} after {seconds}, though its channel leads further"
            f"{_more(now, goal)}"
        )
    message = message_of(now)
    return (
        f"{goal.package} is not ready after {seconds}: {now.phase}{f', {message}' if message else ''}{_more(now, goal)}"
    )


def _more(now: PackageStatus, goal: Goal) -> str:
    return f"; {quoted(olmf('why', f'Subscription/{now.subscription}', namespace=goal.namespace))} shows more"
