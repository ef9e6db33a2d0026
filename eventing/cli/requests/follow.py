"""Follows a package until it works, one line per change."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from eventing.cli.requests.groups import are_groups_in_the_way, narrow_group
from eventing.cli.requests.hints import is_catalog_ready, near
from eventing.cli.requests.request import PackageError, Request
from eventing.cli.requests.subscribing import (
    LOOK_SECONDS,
    Made,
    approve_plan,
    subscribe,
    waiting_plan,
    wanted_subscription,
)
from eventing.diagnosis.status.chain import claimed, originals
from eventing.diagnosis.status.fixes import fix_for
from eventing.diagnosis.status.listing import package_status_among
from eventing.diagnosis.status.progress import PackageStatus
from shared import names
from shared.api.manifest import ReadOnly
from shared.kinds import CLUSTER_SERVICE_VERSION

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

SETTLED_SECONDS = 3.0
"""How long a package must stand still to be taken for finished while plans are approved, or for stuck."""


class NotReadyError(PackageError):
    """The time is over; the sentence says what the package waits for."""


def install(cluster: KubeClient, request: Request, *, timeout: timedelta) -> Iterator[str]:
    """Subscribe to a package and follow it, unless there is no time for that. What it made stays, and is named."""
    made: list[str] = []
    for done in subscribe(cluster, request):
        made += [done.what] if isinstance(done, Made) else []
        yield str(done)
    try:
        if timeout:
            narrow = narrowing(cluster, request.namespace, request.package)
            yield from follow(cluster, request.namespace, request.package, timeout=timeout, on_failed=narrow)
    except NotReadyError as error:
        command = f"olmf uninstall {request.package} -n {request.namespace}"
        left = f"; it made {', '.join(made)}: `{command}` takes the Subscription away" if made else ""
        raise NotReadyError(f"{error}{left}") from error


def follow(
    cluster: KubeClient, namespace: str, package: str, *,
    timeout: timedelta, is_approving: bool = False, leaving: str = "", on_failed: Callable[[str], str] = lambda _: "",
) -> Iterator[str]:  # fmt: skip
    """Lines for every change of standing, until the package works. NotReadyError when the time is over before.

    A plan that waits for approval ends it, too. Approving, it goes on to the newest version instead: it ends when
    nothing newer came for a moment, and never at the version it is `leaving`. What cannot go on by itself is not waited
    for: NotReadyError, too. Nothing is written but approvals: `on_failed` may do something about a failed version, and
    says what it did.
    """
    deadline = time.monotonic() + timeout.total_seconds()
    last, since = PackageStatus("", ""), 0.0
    while True:
        now, is_over = stand(cluster, namespace, package), time.monotonic() > deadline
        if now != last:
            yield _told(package, now)
            last, since = now, time.monotonic()
        stood = time.monotonic() - since
        if is_approving and (why := _kept(package, namespace, now, stood)):
            raise NotReadyError(why)
        if plan := waiting_plan(cluster, namespace, package):
            if not is_approving:
                yield f"{package}: waits for approval; `olmf approve {package} -n {namespace}` approves it"
                return
            yield approve_plan(cluster, namespace, plan)
        elif now.phase == "Failed" and (done := on_failed(now.version)):
            yield done
        elif now.is_done and now.version != leaving and (not is_approving or is_over or stood >= SETTLED_SECONDS):
            return
        elif stood >= SETTLED_SECONDS and _is_stuck(cluster, namespace, package, now):
            raise NotReadyError(_stuck(cluster, namespace, package, _helped(cluster, namespace, now)))
        if is_over:
            raise NotReadyError(_sorry(package, namespace, _helped(cluster, namespace, now), timeout))
        time.sleep(LOOK_SECONDS)


def narrowing(cluster: KubeClient, namespace: str, package: str) -> Callable[[str], str]:
    """A function that narrows the group of a failed version, where that is ours to do."""
    return lambda version: narrow_group(cluster, namespace, package, version)


def _helped(cluster: KubeClient, namespace: str, now: PackageStatus) -> PackageStatus:
    """Where the package stands, with what helps its version."""
    found = fix_for(_version(cluster, namespace, now.version) if now.version else None, cluster)
    return replace(now, says="; ".join(filter(None, (now.says, found.says))))


def _is_stuck(cluster: KubeClient, namespace: str, package: str, now: PackageStatus) -> bool:
    """Only a person can help, and no catalog that is still read."""
    if are_groups_in_the_way(cluster, namespace, now):
        return True
    return now.is_stuck and is_catalog_ready(cluster, namespace, package)


def _stuck(cluster: KubeClient, namespace: str, package: str, now: PackageStatus) -> str:
    hint = near(cluster, namespace, package)
    return f"{package} cannot go on: {now.says}" + (f"; {hint}" if hint else "") + _more(now, namespace)


def _told(package: str, now: PackageStatus) -> str:
    says = "" if now.is_stuck else now.says  # what is stuck is told at the end
    return f"{package}: {now.version or 'no version yet'} {now.phase}" + (f" ({says})" if says else "")


def _kept(package: str, namespace: str, now: PackageStatus, stood: float) -> str:
    """Which wish, or channel, keeps the package at its version, and what lets it go; a range may let it go a while."""
    if now.held:
        return f"{package} is held at {now.held}; `olmf hold {package} -n {namespace} --release` lets it go"
    if now.is_done and now.pinned and stood >= SETTLED_SECONDS:
        command = f"kubectl annotate subscription {now.subscription} -n {namespace} {names.VERSION}-"
        return f"{package} stays at {now.version}: {now.pinned}; `{command}` lets it go"
    if now.is_done and now.stranded and stood >= SETTLED_SECONDS:
        return f"{package} stays: {now.stranded}{_more(now, namespace)}"
    return ""


def _sorry(package: str, namespace: str, now: PackageStatus, timeout: timedelta) -> str:
    seconds = f"{timeout.total_seconds():.0f} s"
    if now.is_done:
        said = f"{package} still is at {now.version} after {seconds}, though its channel leads further"
    else:
        said = f"{package} is not ready after {seconds}: {now.phase}" + (f", {now.says}" if now.says else "")
    return said + _more(now, namespace)


def _more(now: PackageStatus, namespace: str) -> str:
    return f"; `olmf why Subscription/{now.subscription} -n {namespace}` tells more"


def stand(cluster: KubeClient, namespace: str, package: str) -> PackageStatus:
    """Where the package stands now. PackageError when nothing subscribes to it."""
    subscription = wanted_subscription(cluster, namespace, package)
    found = {name: csv for name in claimed([subscription]) if (csv := _version(cluster, namespace, name)) is not None}
    return package_status_among(subscription, found)


def _version(cluster: KubeClient, namespace: str, name: str) -> ReadOnly | None:
    """A version; none for a copy of what another namespace installed, which carries the same name."""
    csv = CLUSTER_SERVICE_VERSION.look_up(cluster.get, name, namespace)
    return csv if csv is not None and originals([csv]) else None
