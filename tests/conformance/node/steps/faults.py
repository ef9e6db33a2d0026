"""What fails under our programs: their pods, Redis, the API server, the node."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from shared.api.manifest import name_of
from shared.kinds import POD, Ref
from tests.conformance.faults.killing import is_survived, kill_seconds
from tests.conformance.node.in_pods import OURS, InPods
from tests.conformance.node.steps.operators import PLACE, reads_the_catalog, removes_beacon
from tests.conformance.node.victims import victims_of
from tests.kit.installation import a_subscription

HALT_SECONDS = 15
OPERATORS = Path(__file__).parents[1] / "operators.yaml"


def anew(host: InPods, harm: Callable[[], object]) -> str:
    """Take an operator away and subscribe to it again, with harm in the middle."""
    removes_beacon(host)
    host.apply(a_subscription("beacon", PLACE, channel="fast"))
    time.sleep(1)
    harm()
    host.until_phase("beacon.v1.1.0", PLACE)
    host.until_ready()
    return "beacon.v1.1.0 Succeeded, all pods ready"


def loses_its_pods(host: InPods) -> str:
    """Delete all pods of our programs."""

    def harm() -> None:
        for name, _, _ in host.pods():
            host.cluster.delete(POD.ref(name, OURS))

    return anew(host, harm)


def loses_redis_data(host: InPods) -> str:
    """FLUSHALL."""
    script = 'REDISCLI_AUTH="$PASSWORD" redis-cli flushall'
    return anew(host, lambda: host.kubectl("exec", "deploy/olmf-redis", "--", "sh", "-c", script))


def loses_redis(host: InPods) -> str:
    """Delete the pod, which keeps nothing."""

    def harm() -> None:
        for pod in host.cluster.list(POD, OURS):
            if name_of(pod).startswith("olmf-redis"):
                host.cluster.delete(Ref.of(pod))

    return anew(host, harm)


def loses_the_api(host: InPods) -> str:
    """Halt the API server for some seconds."""
    pid = int((host.state / "pid" / "kube-apiserver").read_text().split()[0])

    def harm() -> None:
        os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(HALT_SECONDS)
        finally:
            os.kill(pid, signal.SIGCONT)

    return f"for {HALT_SECONDS} s; {anew(host, harm)}"


def loses_the_node(host: InPods) -> str:
    """kubelet, containerd and every container end, and begin again, as when a machine restarts."""
    return f"{anew(host, lambda: host.node('restart', str(host.state)))}"


def loses_anything(host: InPods) -> str:
    """Rounds of installs and removals, meanwhile pods, processes in them and programs of the node are killed.

    One of the samples is for all namespaces, so those of `make cluster` go before, and come back.
    """
    host.kubectl("delete", "namespace", "sea", "--ignore-not-found", namespace="")
    reads_the_catalog(host)
    try:
        return is_survived(victims_of(host), kill_seconds(default=600))
    finally:
        host.kubectl("apply", "-f", str(OPERATORS), namespace="")
