"""Follows a package until it works, one line per change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from eventing.packages.progress import Standing, standing
from eventing.packages.requests import LOOK_SECONDS, subscription_of
from shared.kinds import CLUSTER_SERVICE_VERSION

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient


class NotReadyError(Exception):
    """The time is over; the sentence says what the package waits for."""


def follow(cluster: KubeClient, namespace: str, package: str, *, timeout: timedelta, until: str = "") -> Iterator[str]:
    """Lines for every change of standing, until the package (or its version `until`) works. NotReadyError after that.

    A plan that waits for approval ends it, too: nothing more happens until somebody approves.
    """
    deadline = time.monotonic() + timeout.total_seconds()
    last: Standing | None = None
    while True:
        now = stand(cluster, namespace, package)
        if now != last:
            yield f"{package}: {now.version or 'no version yet'} {now.phase}" + (f" ({now.says})" if now.says else "")
            last = now
        if now.is_done and until in ("", now.version):
            return
        if "RequiresApproval" in now.says:
            yield f"{package}: waits for approval; `olmf upgrade {package} -n {namespace}` approves it"
            return
        if time.monotonic() > deadline:
            raise NotReadyError(
                f"{package} is not ready after {timeout.total_seconds():.0f} s: {now.phase}"
                + (f", {now.says}" if now.says else "")
                + f"; `olmf why Subscription/{package} -n {namespace}` tells more"
            )
        time.sleep(LOOK_SECONDS)


def stand(cluster: KubeClient, namespace: str, package: str) -> Standing:
    """Where the package stands now."""
    subscription = subscription_of(cluster, namespace, package)
    if subscription is None:
        return Standing("", "NotSubscribed")
    current = str((subscription.get("status") or {}).get("currentCSV") or "")
    csv = cluster.get(CLUSTER_SERVICE_VERSION.ref(current, namespace)) if current else None
    return standing(subscription, csv)
