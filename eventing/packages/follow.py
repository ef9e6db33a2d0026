"""Follows a package until it works, one line per change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from eventing.packages.groups import narrow_group
from eventing.packages.hints import is_catalog_ready, near
from eventing.packages.progress import Standing, standing
from eventing.packages.requests import LOOK_SECONDS, PackageError, approve_plan, subscription_of, waiting_plan
from shared import names
from shared.api.manifest import labels_of
from shared.kinds import CLUSTER_SERVICE_VERSION

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

SETTLED_SECONDS = 3.0
"""How long a package must stand still to be taken for finished while plans are approved, or for stuck."""


class NotReadyError(PackageError):
    """The time is over; the sentence says what the package waits for."""


def follow(
    cluster: KubeClient, namespace: str, package: str, *,
    timeout: timedelta, is_approving: bool = False, leaving: str = "",
) -> Iterator[str]:  # fmt: skip
    """Lines for every change of standing, until the package works. NotReadyError when the time is over before.

    A plan that waits for approval ends it, too. Approving, it goes on to the newest version instead: it ends when
    nothing newer came for a moment, and never at the version it is `leaving`. What cannot go on by itself is not waited
    for: NotReadyError, too.
    """
    deadline = time.monotonic() + timeout.total_seconds()
    last, since = Standing("", ""), 0.0
    while True:
        now = stand(cluster, namespace, package)
        if now != last:
            yield _told(package, now)
            last, since = now, time.monotonic()
        stood = time.monotonic() - since
        if is_approving and now.held:
            raise NotReadyError(
                f"{package} is held at {now.held}; `olmf hold {package} -n {namespace} --release` lets it go"
            )
        if plan := waiting_plan(cluster, namespace, package):
            if not is_approving:
                yield f"{package}: waits for approval; `olmf upgrade {package} -n {namespace}` approves it"
                return
            yield approve_plan(cluster, namespace, plan)
        elif now.phase == "Failed" and (done := narrow_group(cluster, namespace, package, now.version)):
            yield done
        elif now.is_done and now.version != leaving and stood >= (SETTLED_SECONDS if is_approving else 0):
            return
        elif now.is_stuck and stood >= SETTLED_SECONDS and is_catalog_ready(cluster, namespace, package):
            hint = near(cluster, namespace, package)
            said = f"{package} cannot go on: {now.says}" + (f"; {hint}" if hint else "")
            raise NotReadyError(said + _more(package, namespace))
        if time.monotonic() > deadline:
            raise NotReadyError(_sorry(package, namespace, now, timeout))
        time.sleep(LOOK_SECONDS)


def _told(package: str, now: Standing) -> str:
    return f"{package}: {now.version or 'no version yet'} {now.phase}" + (f" ({now.says})" if now.says else "")


def _sorry(package: str, namespace: str, now: Standing, timeout: timedelta) -> str:
    seconds = f"{timeout.total_seconds():.0f} s"
    if now.is_done:
        said = f"{package} still is at {now.version} after {seconds}, though its channel leads further"
    else:
        said = f"{package} is not ready after {seconds}: {now.phase}" + (f", {now.says}" if now.says else "")
    return said + _more(package, namespace)


def _more(package: str, namespace: str) -> str:
    return f"; `olmf why Subscription/{package} -n {namespace}` tells more"


def stand(cluster: KubeClient, namespace: str, package: str) -> Standing:
    """Where the package stands now."""
    subscription = subscription_of(cluster, namespace, package)
    if subscription is None:
        return Standing("", "NotSubscribed")
    current = str((subscription.get("status") or {}).get("currentCSV") or "")
    csv = cluster.get(CLUSTER_SERVICE_VERSION.ref(current, namespace)) if current else None
    # why: a copy of what another namespace installed carries the same name
    is_copy = csv is not None and names.COPIED_FROM in labels_of(csv)
    return standing(subscription, None if is_copy else csv)
