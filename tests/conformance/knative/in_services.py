"""Our programs as Services of Knative on a real node, as the steps look at them."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from shared.api.manifest import labels_of
from shared.kinds import POD
from tests.conformance.knative.deliveries import Delivery, deliveries
from tests.conformance.node.in_pods import OURS, InPods
from tests.kit.installation import a_subscription, an_operator_group
from tests.kit.waiting import wait_for

SERVICE = "serving.knative.dev/service"
REST_SECONDS = 300.0
"""A bound against hanging: namespaces that went just before made new adapters, each of which tells everything anew."""
LOG_SECONDS = 11
"""After which the gateway has written what passed: it does so each ten seconds."""


@dataclass(frozen=True)
class InServices(InPods):
    """An installation of `k8s/knative`."""

    def olmf(self, *words: str, check: bool = True, timeout: float = 180) -> subprocess.CompletedProcess[str]:
        """Run `olmf` in the pod of the scheduler."""
        del check
        output = self.kubectl("exec", "deploy/olmf-scheduler", "--", "olmf", *words, timeout=timeout)
        return subprocess.CompletedProcess(words, 0, output, "")

    def awake(self) -> list[str]:
        """The Services that have a Pod."""
        return sorted({labels_of(pod)[SERVICE] for pod in self.cluster.list(POD, OURS) if SERVICE in labels_of(pod)})

    def until_asleep(self) -> None:
        """Wait until no Service has a Pod."""
        wait_for(lambda: not self.awake(), "that all Services are at zero", seconds=REST_SECONDS)

    def delivered_since(self, moment: str) -> list[Delivery]:
        """What passed the gateway."""
        time.sleep(LOG_SECONDS)
        words = ("logs", "deploy/3scale-kourier-gateway", f"--since-time={moment}")
        return deliveries(self.kubectl(*words, namespace="kourier-system").splitlines())

    @contextmanager
    def installing(self, namespace: str) -> Iterator[None]:
        """A namespace with an OperatorGroup and Subscriptions to two operators, gone after the block."""
        with self.namespaces(namespace):
            self.apply(
                an_operator_group(namespace, targets=(namespace,)),
                a_subscription("tide", namespace, channel="stable", startingCSV="tide.v0.1.0"),
                a_subscription("beacon", namespace, channel="fast"),
            )
            yield

    def until_installed(self, namespace: str) -> None:
        """Both are there, one of them upgraded."""
        self.until_phase("tide.v1.0.0", namespace)
        self.until_phase("beacon.v1.1.0", namespace)


def now() -> str:
    """The moment, as kubectl takes it."""
    time.sleep(1)  # why: kubectl compares whole seconds
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
