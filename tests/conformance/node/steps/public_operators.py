"""Every public package, in a namespace of its own, with the stand-in for an operator in its containers."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path

from shared.api.manifest import Manifest, name_of
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    NAMESPACE,
    POD,
    SUBSCRIPTION,
    Ref,
)
from tests.conformance.node import examples
from tests.conformance.node.in_pods import OURS, InPods
from tests.conformance.node.public import CATALOG, StoodIn, pods_of, push_all
from tests.conformance.packages.offers import FIRST, Head, heads_of, oldest, prepare, subscribe_all
from tests.conformance.packages.results import EXPECTED, SUCCEEDED, result
from tests.conformance.packages.test_upgrades import is_upgraded, left, phases
from tests.kit.real_bundles import extracted
from tests.kit.waiting import wait_for

SOURCE = "public"
PACKAGES = "/apis/packages.operators.coreos.com/v1/namespaces/olm/packagemanifests?labelSelector=catalog=public"
ROUND_SECONDS = 1800.0
"""For the packages of one round together: a bound against hanging, not a measure."""
ENFORCED = {"pod-security.kubernetes.io/enforce": "baseline"}
STRICTER = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}


@dataclass
class Round:
    """Packages that are installed together, from their oldest versions on, and uninstalled together."""

    host: InPods
    heads: Sequence[Head]
    first: Mapping[str, str]
    """What an upgrade to a head begins with."""
    pods: int = 0
    refused: list[str] = field(default_factory=list)
    """Examples that the API server does not take."""
    unrestricted: list[str] = field(default_factory=list)
    """Packages whose pods a namespace that enforces `restricted` would not admit."""
    examples: int = 0

    @property
    def installed(self) -> list[Head]:
        """Those that lack nothing in the catalog."""
        return [head for head in self.heads if EXPECTED[head.package] == SUCCEEDED]

    def run(self) -> None:
        """From nothing to nothing."""
        for head in self.heads:
            prepare(self.host, head)
            self.host.cluster.merge(NAMESPACE.ref(head.package), {"metadata": {"labels": ENFORCED}})
        subscribe_all(self.host, self.heads, self.first, SOURCE)
        wait_for(lambda: not self.waiting(), "that all are there, upgraded and Ready", seconds=ROUND_SECONDS)
        for head in self.installed:
            self.use(head)
        self.uninstall()

    def waiting(self) -> list[str]:
        """What is not yet as it should be."""
        found = {one.package: result(self.host, one.package, one.package, one.csv) for one in self.heads}
        told = [f"{package}: {output}" for package, output in found.items() if EXPECTED[package] not in output]
        if not told:
            begun = ((one, self.first[one.csv]) for one in self.installed)
            told = [f"{one.package} is not upgraded" for one, begin in begun if not is_upgraded(self.host, one, begin)]
        return told or self.unready()

    def unready(self) -> list[str]:
        """Deployments without all their pods."""
        found = [one for head in self.installed for one in self.host.cluster.list(DEPLOYMENT, head.package)]
        self.pods = sum(one["spec"]["replicas"] for one in found)
        return [
            f"{name_of(one)} is not Ready" for one in found
            if (one.get("status") or {}).get("readyReplicas", 0) != one["spec"]["replicas"]
        ]  # fmt: skip

    def use(self, head: Head) -> None:
        """Its examples, and what a stricter namespace would say of its pods."""
        csv = self.host.cluster.get(CLUSTER_SERVICE_VERSION.ref(head.csv, head.package)) or {}
        found = list(examples.use(self.host, csv, (*head.targets, head.package)[0]))
        self.examples += found.count("")
        self.refused += filter(None, found)
        if "Warning" in self.host.api.patch(f"/api/v1/namespaces/{head.package}?dryRun=All", STRICTER).headers:
            self.unrestricted.append(head.package)

    def uninstall(self) -> None:
        """Operators, all that leads to them, and their namespaces."""
        cluster = self.host.cluster
        for head in self.heads:
            for subscription in cluster.list(SUBSCRIPTION, head.package):
                cluster.delete(Ref.of(subscription))
            for name in phases(self.host, head.package):
                cluster.delete(CLUSTER_SERVICE_VERSION.ref(name, head.package))
        for package in [head.package for head in self.installed]:
            wait_for(partial(self.is_gone, package), f"the end of what {package} had", seconds=ROUND_SECONDS)
        self.host.remove(*(NAMESPACE.ref(name) for head in self.heads for name in {head.package, *head.targets}))

    def is_gone(self, package: str) -> bool:
        """Whether nothing is left of its versions, nor leads to them."""
        return not phases(self.host, package) and not left(self.host, package)


def installs(host: InPods) -> str:
    """All of them, in rounds that the node has processors for."""
    before = {name_of(one) for one in host.cluster.list(CUSTOM_RESOURCE_DEFINITION)}
    with tempfile.TemporaryDirectory() as name:
        bundles = extracted(Path(name))
        found = {one.name: one for one in push_all(bundles)}
        heads, first = offered(host, bundles), oldest(bundles)
        needs = {package: needed(head, heads, first, found) for package, head in heads.items()}
    began, calls = time.monotonic(), examples.called(host)
    rounds = [Round(host, members, first) for members in parted(heads.values(), needs, free_cpu(host))]
    for one in rounds:
        one.run()
    took, calls = time.monotonic() - began, examples.called(host) - calls
    gone = [CUSTOM_RESOURCE_DEFINITION.ref(name_of(one)) for one in host.cluster.list(CUSTOM_RESOURCE_DEFINITION)]
    host.remove(CATALOG_SOURCE.ref(SOURCE, OURS), *(ref for ref in gone if ref.name not in before))
    return told(rounds, calls, took)


def told(rounds: Sequence[Round], calls: Counter[str], took: float) -> str:
    """What came of all."""
    installed = [head for one in rounds for head in one.installed]
    upgraded = sum(head.csv != one.first[head.csv] for one in rounds for head in one.installed)
    strict = [package for one in rounds for package in one.unrestricted]
    refused = sum(len(one.refused) for one in rounds)
    return (
        f"{len(installed)} packages Succeeded, {upgraded} of them upgraded to it, "
        f"{sum(len(one.heads) for one in rounds) - len(installed)} say which package they lack; "
        f"{sum(one.pods for one in rounds)} pods Ready; {sum(one.examples for one in rounds)} examples of the authors "
        f"made, {refused} refused by their own schema; webhooks admitted {calls['admission']} times and converted "
        f"{calls['conversion']} times, failed {calls['failed admission']} and {calls['failed conversion']} times; in "
        f"namespaces that enforce `baseline`; `restricted` would refuse pods of {', '.join(strict)}; "
        f"{len(rounds)} rounds, as the pods ask for more processors than there are, {took:.0f} s without the pushing; "
        "nothing is left"
    )


def offered(host: InPods, bundles: Path) -> Mapping[str, Head]:
    """The heads of the catalog, as the aggregated API of ours says."""
    meta, spec = {"name": SOURCE, "namespace": OURS}, {"sourceType": "grpc", "image": CATALOG}
    host.apply({"apiVersion": CATALOG_SOURCE.api_version, "kind": CATALOG_SOURCE.kind, "metadata": meta, "spec": spec})
    wait_for(lambda: len(packages(host)) == len(EXPECTED), "all packages")
    return heads_of(((name_of(one), head_of(one)) for one in packages(host)), bundles)


def packages(host: InPods) -> list[Manifest]:
    """What the aggregated API says of the catalog."""
    return list(host.api.get(PACKAGES).body.get("items", ()))


def head_of(package: Manifest) -> str:
    """Of its default channel."""
    status = package["status"]
    [head] = [one["currentCSV"] for one in status["channels"] if one["name"] == status["defaultChannel"]]
    return str(head)


def needed(head: Head, heads: Mapping[str, Head], first: Mapping[str, str], bundles: Mapping[str, StoodIn]) -> Decimal:
    """Processors for a package and those that it requires, with both ends of an upgrade beside each other."""
    found = [head, *(heads[package] for package in bundles[head.csv].required)]
    return sum((cpu_of(bundles[csv].csv) for one in found for csv in {one.csv, first[one.csv]}), Decimal())


def parted(heads: Iterable[Head], needs: Mapping[str, Decimal], free: Decimal) -> list[list[Head]]:
    """Rounds, each no more than the node has processors for; what others need comes first."""
    rounds = list[tuple[Decimal, list[Head]]]()
    for head in sorted(heads, key=lambda head: head.package != FIRST):
        if not rounds or rounds[-1][0] + needs[head.package] > free:
            rounds.append((Decimal(), []))
        total, members = rounds.pop()
        rounds.append((total + needs[head.package], [*members, head]))
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
