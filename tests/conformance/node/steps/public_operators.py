"""Every public package, in a namespace of its own, with the stand-in for an operator in its containers."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from shared.api.manifest import Manifest, name_of
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    NAMESPACE,
    POD,
    SUBSCRIPTION,
)
from tests.conformance.node import examples
from tests.conformance.node.in_pods import OURS, InPods
from tests.conformance.node.public import CATALOG, pods_of, push_all
from tests.conformance.packages.offers import FIRST, Head, heads_of, oldest, prepare, subscribe_all
from tests.conformance.packages.results import EXPECTED, SUCCEEDED, result
from tests.conformance.packages.test_upgrades import is_upgraded, left
from tests.kit.real_bundles import extracted
from tests.kit.waiting import wait_for

SOURCE = "public"
PACKAGES = "/apis/packages.operators.coreos.com/v1/namespaces/olm/packagemanifests?labelSelector=catalog=public"
ROUND_SECONDS = 600.0
"""For the packages of one round together: a bound against hanging, not a measure."""


class Round:
    """Packages that are installed together, from their oldest versions on, and uninstalled together."""

    def __init__(self, host: InPods, heads: Sequence[Head], first: Mapping[str, str]) -> None:
        self.host, self.heads, self.first = host, heads, first
        self.installed = [head for head in heads if EXPECTED[head.package] == SUCCEEDED]
        self.pods = 0
        self.refused = list[str]()

    def run(self) -> None:
        """From nothing to nothing."""
        for head in self.heads:
            prepare(self.host, head)
        subscribe_all(self.host, self.heads, self.first, SOURCE)
        wait_for(lambda: not self.waiting(), f"{self.waiting()}", seconds=ROUND_SECONDS)
        wait_for(lambda: not self.unready(), f"pods that are Ready, not {self.unready()}", seconds=ROUND_SECONDS)
        self.use()
        self.uninstall()

    def waiting(self) -> list[str]:
        """What is not yet as it should be."""
        found = {one.package: result(self.host, one.package, one.package, one.csv) for one in self.heads}
        told = [f"{package}: {output}" for package, output in found.items() if EXPECTED[package] not in output]
        return told + [
            f"{one.package} is not upgraded" for one in self.installed
            if not is_upgraded(self.host, one, self.first[one.csv])
        ]  # fmt: skip

    def unready(self) -> list[str]:
        """Deployments without all their pods."""
        found = [one for head in self.installed for one in self.host.cluster.list(DEPLOYMENT, head.package)]
        self.pods = sum(one["spec"]["replicas"] for one in found)
        return [
            name_of(one) for one in found
            if (one.get("status") or {}).get("readyReplicas", 0) != one["spec"]["replicas"]
        ]  # fmt: skip

    def use(self) -> None:
        """Make and delete the examples of each."""
        for head in self.installed:
            csv = self.host.cluster.get(CLUSTER_SERVICE_VERSION.ref(head.csv, head.package)) or {}
            made = examples.make(self.host, csv, (*head.targets, head.package)[0])
            examples.remove(self.host, made)
            self.refused += made.refused

    def uninstall(self) -> None:
        """Operators, all that leads to them, and their namespaces."""
        cluster = self.host.cluster
        for head in self.heads:
            cluster.delete(SUBSCRIPTION.ref(head.package, head.package))
            for csv in cluster.list(CLUSTER_SERVICE_VERSION, head.package):
                cluster.delete(CLUSTER_SERVICE_VERSION.ref(name_of(csv), head.package))
        for head in self.installed:
            self.host.until_gone(CLUSTER_SERVICE_VERSION.ref(head.csv, head.package))
            wait_for(lambda: not left(self.host, head.package), f"the end of what {head.package} had")  # noqa: B023
        self.host.remove(*(NAMESPACE.ref(name) for head in self.heads for name in {head.package, *head.targets}))


def installs(host: InPods) -> str:
    """All of them, in rounds that the node has processors for."""
    began = time.monotonic()
    before = {name_of(one) for one in host.cluster.list(CUSTOM_RESOURCE_DEFINITION)}
    with tempfile.TemporaryDirectory() as name:
        bundles = extracted(Path(name))
        requests = {one.name: cpu_of(one.csv) for one in push_all(bundles)}
        heads, first = offered(host, bundles), oldest(bundles)
    calls = examples.called(host)
    rounds = [Round(host, heads, first) for heads in parted(host, heads.values(), first, requests)]
    for one in rounds:
        one.run()
    calls = examples.called(host) - calls
    gone = [CUSTOM_RESOURCE_DEFINITION.ref(name_of(one)) for one in host.cluster.list(CUSTOM_RESOURCE_DEFINITION)]
    host.remove(CATALOG_SOURCE.ref(SOURCE, OURS), *(ref for ref in gone if ref.name not in before))
    return f"{len(heads)} {calls} {[one.pods for one in rounds]} {[one.refused for one in rounds]}"


def offered(host: InPods, bundles: Path) -> Mapping[str, Head]:
    """The heads of the catalog, as the aggregated API of ours says."""
    meta, spec = {"name": SOURCE, "namespace": OURS}, {"sourceType": "grpc", "image": CATALOG}
    host.apply({"apiVersion": CATALOG_SOURCE.api_version, "kind": CATALOG_SOURCE.kind, "metadata": meta, "spec": spec})
    found = wait_for(lambda: len(items := host.api.get(PACKAGES).body["items"]) == len(EXPECTED) and items, "packages")
    return heads_of(((name_of(one), head_of(one)) for one in found), bundles)


def head_of(package: Manifest) -> str:
    """Of its default channel."""
    status = package["status"]
    [head] = [one["currentCSV"] for one in status["channels"] if one["name"] == status["defaultChannel"]]
    return str(head)


def parted(
    host: InPods, heads: Iterable[Head], first: Mapping[str, str], requests: Mapping[str, Decimal]
) -> list[list[Head]]:
    """Rounds, each no more than the scheduler has processors for, with both versions of an upgrade beside each other."""
    free, rounds = free_cpu(host), list[tuple[Decimal, list[Head]]]()
    for head in sorted(heads, key=lambda head: head.package != FIRST):
        needed = sum((requests[csv] for csv in {head.csv, first[head.csv]}), Decimal())
        if not rounds or rounds[-1][0] + needed > free:
            rounds.append((Decimal(), []))
        total, members = rounds.pop()
        rounds.append((total + needed, [*members, head]))
    return [members for _, members in rounds]


def free_cpu(host: InPods) -> Decimal:
    """What the requests of the pods that run leave of the node."""
    [node] = host.api.get("/api/v1/nodes").body["items"]
    pods = [pod for pod in host.cluster.list(POD) if pod["status"]["phase"] in ("Pending", "Running")]
    return cpus(node["status"]["allocatable"]["cpu"]) - sum(map(cpu_of_pod, (pod["spec"] for pod in pods)))


def cpu_of(csv: Manifest) -> Decimal:
    """What the pods of a version ask for."""
    deployments = csv["spec"]["install"]["spec"]["deployments"]
    replicas = [one["spec"].get("replicas", 1) for one in deployments]
    return sum((many * cpu_of_pod(pod) for many, pod in zip(replicas, pods_of(csv), strict=True)), Decimal())


def cpu_of_pod(spec: Manifest) -> Decimal:
    """What a pod asks for."""
    asked = [((one.get("resources") or {}).get("requests") or {}).get("cpu", "0") for one in spec["containers"]]
    return sum(map(cpus, asked), Decimal())


def cpus(quantity: object) -> Decimal:
    """Processors, of `1500m` or `1.5`."""
    text = str(quantity)
    return Decimal(text.removesuffix("m")) / 1000 if text.endswith("m") else Decimal(text)
