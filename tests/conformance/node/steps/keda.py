"""KEDA counts the workers by the age of the backlog."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shared.kinds import CLUSTER_SERVICE_VERSION
from tests.conformance.node.in_pods import InPods
from tests.kit.installation import a_subscription, an_operator_group
from tests.kit.waiting import wait_for

KUSTOMIZATION, BASE = (Path(__file__).parents[4] / "k8s" / folder for folder in ("keda", "base"))
SCALED, WORKER = "scaledobjects.keda.sh/olmf-worker", "deploy/olmf-worker"
POLICY = "networkpolicies/olmf-watch-keda"
PLACES = tuple(f"shore-{number}" for number in range(1, 9))
"""So many installs at once that the job that came first waits."""
PATIENCE_SECONDS = 600.0
"""More than KEDA and the autoscaler need to see that nothing waits any more."""


def is_scaled(host: InPods) -> str:
    """With `k8s/keda` as it is shipped, then with no worker at rest; afterwards the base is as it was."""
    if not host.kubectl("get", "crd", "scaledobjects.keda.sh", "--ignore-not-found", namespace=""):
        return "not tried: `keda.sh up` was not run"
    host.kubectl("apply", "-k", str(KUSTOMIZATION), namespace="")
    try:
        host.kubectl("wait", SCALED, "--for=condition=Ready", "--timeout=120s")
        shipped = grows_and_rests(host, least=1)
        zero = json.dumps({"spec": {"minReplicaCount": 0}})
        host.kubectl("patch", SCALED, "--type=merge", f"--patch={zero}")
        resting = grows_and_rests(host, least=0)
        load = f"the machine had a load of {os.getloadavg()[2]:.0f}"
        return f"as shipped {shipped}; with `minReplicaCount: 0` {resting}; {load}"
    finally:
        host.kubectl("delete", SCALED, POLICY)
        host.kubectl("apply", "-k", str(BASE), namespace="")
        host.until_ready()


def grows_and_rests(host: InPods, *, least: int) -> str:
    """Wait for rest, install, and wait for rest again: how many workers there were, and when."""
    wait_for(lambda: workers(host) == least, f"{least} workers at rest", seconds=PATIENCE_SECONDS)
    with host.namespaces(*PLACES), counted(host) as counts:
        began = time.monotonic()
        for place in PLACES:
            host.apply(an_operator_group(place, targets=(place,)))
            host.apply(a_subscription("tide", place, channel="stable", startingCSV="tide.v0.1.0"))
        wait_for(lambda: workers(host) > least, "more workers")
        grown = time.monotonic() - began
        wait_for(lambda: all(is_installed(host, place) for place in PLACES), "the installs", seconds=PATIENCE_SECONDS)
        installed = time.monotonic() - began
    began = time.monotonic()
    wait_for(lambda: workers(host) == least, f"{least} workers at rest", seconds=PATIENCE_SECONDS)
    rested = time.monotonic() - began
    return (
        f"{least} at rest, one more after {grown:.0f} s, {max(counts)} at most, {len(PLACES)} operators and "
        f"upgrades after {installed:.0f} s, {least} again {rested:.0f} s after the end of their namespaces"
    )


def is_installed(host: InPods, place: str) -> bool:
    """Whether the newest version works."""
    found = host.cluster.get(CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", place)) or {}
    return bool((found.get("status") or {}).get("phase") == "Succeeded")


def workers(host: InPods) -> int:
    """How many the Deployment has."""
    return int(host.kubectl("get", WORKER, "--output=jsonpath={.spec.replicas}"))


@contextmanager
def counted(host: InPods) -> Iterator[list[int]]:
    """The number of workers, once a second, until the end of the block."""
    counts, over = [workers(host)], threading.Event()

    def count() -> None:
        while not over.wait(1):
            counts.append(workers(host))

    thread = threading.Thread(target=count)
    thread.start()
    try:
        yield counts
    finally:
        over.set()
        thread.join()
