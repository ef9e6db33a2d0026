"""What is shown on Knative: an install from awake and from zero, rest, and what fails."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

from shared.api.manifest import name_of
from shared.kinds import POD
from tests.conformance.knative.deliveries import told
from tests.conformance.knative.in_services import InServices, now
from tests.conformance.node.in_pods import OURS
from tests.conformance.node.steps.operators import reads_the_catalog

KUSTOMIZATION = Path(__file__).parents[3] / "k8s" / "knative"
WATCHED_BY_POLLING = ("deploy/olmf-watch", "deploy/olmf-worker")
QUIET_SECONDS, AWAY_SECONDS, KILLING_SECONDS = 60, 20, 40
VICTIMS = {
    OURS: ("olmf-", "apiserversource-olmf"),
    "knative-eventing": ("mt-broker-", "imc-dispatcher"),
    "knative-serving": ("activator", "autoscaler"),
}


def is_applied(host: InServices) -> str:
    """`kubectl apply -k k8s/knative`, in place of the base's watcher and workers."""
    host.kubectl("apply", "-k", str(KUSTOMIZATION), namespace="")
    host.kubectl("delete", *WATCHED_BY_POLLING, "--ignore-not-found")
    is_ready(host)
    count = {kind: len(host.kubectl("get", kind, "-o", "name").split()) for kind in ("triggers", "ksvc")}
    reads_the_catalog(host)
    return f"{count['triggers']} Triggers, {count['ksvc']} Services, Broker and source ready, the catalog READY"


def is_ready(host: InServices) -> None:
    """Wait until Broker, Services, Triggers, source and programs are."""
    for kind in ("broker", "services.serving.knative.dev", "triggers", "apiserversources"):
        host.kubectl("wait", kind, "--all", "--for=condition=Ready", "--timeout=300s", timeout=320)
    for each in host.kubectl("get", "deployments", "-o", "name", "--selector=!serving.knative.dev/service").split():
        host.kubectl("rollout", "status", each)


def rests(host: InServices) -> str:
    """Nothing of ours but Redis, the scheduler and the two servers of APIs runs, and nothing is delivered."""
    began = time.monotonic()
    host.until_asleep()
    took, moment = time.monotonic() - began, now()
    time.sleep(QUIET_SECONDS)
    found = host.delivered_since(moment)
    assert not found, f"{len(found)} deliveries at rest: {found[:3]}"
    assert not host.awake(), host.awake()
    return f"all Services at zero after {took:.0f} s; in {QUIET_SECONDS} s then 0 deliveries"


def installs_from_zero(host: InServices) -> str:
    """Two operators and an upgrade, while no Service has a Pod."""
    host.until_asleep()
    return installs(host, "from-zero")


def installs_awake(host: InServices) -> str:
    """The same, while the Services of an earlier install are awake."""
    with host.installing("earlier"):
        host.until_installed("earlier")
        return installs(host, "awake")


def installs(host: InServices, namespace: str) -> str:
    """Two operators and an upgrade: how long it took, and what was delivered."""
    moment, began = now(), time.monotonic()
    with host.installing(namespace):
        host.until_installed(namespace)
        took = time.monotonic() - began
        assert not (repeated := host.dead()), repeated
        return f"Succeeded after {took:.1f} s; {told(host.delivered_since(moment))}"


def loses(host: InServices, namespace: str, harm: Callable[[], object]) -> str:
    """An install with harm in the middle: how long after its end all is done."""
    with host.installing(namespace):
        harm()
        began = time.monotonic()
        host.until_installed(namespace)
        assert not (dead := host.dead()), dead
        return f"all done {time.monotonic() - began:.1f} s later"


def loses_the_broker(host: InServices) -> str:
    """The ingress of the Broker is away while Subscriptions are made."""

    def scale(replicas: int) -> None:
        words = ("scale", "deploy/mt-broker-ingress", f"--replicas={replicas}")
        host.kubectl(*words, namespace="knative-eventing")
        host.kubectl("rollout", "status", "deploy/mt-broker-ingress", namespace="knative-eventing")

    def comes_back() -> None:
        time.sleep(AWAY_SECONDS)
        scale(1)

    scale(0)
    return f"for {AWAY_SECONDS} s; {loses(host, 'no-broker', comes_back)}"


def loses_the_source(host: InServices) -> str:
    """The Pod of the ApiServerSource is deleted in the middle of an install."""

    def harm() -> None:
        time.sleep(2)
        for pod in host.cluster.list(POD, OURS):
            if name_of(pod).startswith("apiserversource-olmf"):
                host.cluster.delete(POD.ref(name_of(pod), OURS))

    return loses(host, "no-source", harm)


def loses_pods(host: InServices) -> str:
    """A Pod of ours or of Knative, chosen at random, is killed every three seconds."""
    killed = list[str]()

    def harm() -> None:
        end = time.monotonic() + KILLING_SECONDS
        while time.monotonic() < end:
            namespace, name = random.choice(victims(host))
            killed.append(name)
            host.kubectl(
                "delete", "pod", name, "--grace-period=0", "--force", "--ignore-not-found", namespace=namespace
            )
            time.sleep(3)

    said = loses(host, "killed", harm)
    return f"{len(killed)} in {KILLING_SECONDS} s; {said}"


def victims(host: InServices) -> list[tuple[str, str]]:
    """Namespace and name of each Pod that may be killed; that of Redis keeps what nobody could tell again."""
    return [
        (namespace, name)
        for namespace, prefixes in VICTIMS.items()
        for name in (name_of(pod) for pod in host.cluster.list(POD, namespace))
        if name.startswith(prefixes) and not name.startswith("olmf-redis")
    ]
