"""The real bundles: where they come from, and what the head of each default channel supports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from eventing.diagnosis.offers import offered
from shared.adapters.kube import KubeClient
from shared.api.manifest import Manifest
from shared.domain.go import yaml as goyaml
from shared.kinds import CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, SECRET
from tests.kit.installation import Installation, a_namespace, a_subscription, an_operator_group
from tests.kit.waiting import wait_for

PREPARED = {
    "ack-rds-controller": CONFIG_MAP.ref("ack-rds-user-config", "ack-rds-controller"),
    "ack-s3-controller": CONFIG_MAP.ref("ack-s3-user-config", "ack-s3-controller"),
    "opendatahub-operator": SECRET.ref("opendatahub-operator-controller-webhook-cert", "opendatahub-operator"),
    "opentelemetry-operator": SECRET.ref("opentelemetry-operator-metrics", "opentelemetry-operator"),
    "tempo-operator": SECRET.ref("tempo-operator-metrics", "tempo-operator"),
}
"""What a user, or the platform that a package is made for, makes before it: its Pods do not start without it."""

FIRST = "prometheus"
"""The package that brings what another one needs: the plan of `opentelemetry-operator` waits a minute for it."""
RULES = CUSTOM_RESOURCE_DEFINITION.ref("prometheusrules.monitoring.coreos.com")
SOURCE = "local"
"""The catalog, in the namespace `olm`."""
PATIENCE_SECONDS = 600.0
"""For all packages together: a bound against hanging, not a measure."""
OBSOLETE = frozenset(("prometheusoperator.0.37.0",))
"""Versions whose definitions are `v1beta1`, which no API server takes any more."""
SKIPPED = {"cert-manager.v1.16.5": "cert-manager.v1.16.1"}
"""A version to one in its skipRange, where it replaces none."""
NO_STARTS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Head:
    """The head of the default channel of a package."""

    package: str
    csv: str
    modes: frozenset[str]
    """The install modes that it supports."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The namespaces that the narrowest of them asks for; none means all."""
        if "OwnNamespace" in self.modes:
            return (self.package,)
        return (f"{self.package}-target",) if "SingleNamespace" in self.modes else ()


def versions(bundles: Path) -> Iterator[Manifest]:
    """Every ClusterServiceVersion of the bundles."""
    for path in sorted(bundles.glob("*/*/manifests/*")):
        manifest = goyaml.load_value(path.read_bytes())
        if isinstance(manifest, dict) and manifest.get("kind") == "ClusterServiceVersion":
            yield manifest


def heads(cluster: KubeClient, bundles: Path) -> dict[str, Head]:
    """Package to the head of its default channel, as the catalog that the cluster serves has it."""
    rows = [row for row in offered(cluster) if row["default"]]
    return heads_of(((str(row["package"]), str(row["version"])) for row in rows), bundles)


def heads_of(found: Iterable[tuple[str, str]], bundles: Path) -> dict[str, Head]:
    """Package to its head, of packages and the names of their heads."""
    modes = {
        csv["metadata"]["name"]: frozenset(mode["type"] for mode in csv["spec"]["installModes"] if mode["supported"])
        for csv in versions(bundles)
    }
    return {package: Head(package, head, modes[head]) for package, head in found}


def prepare(installation: Installation, head: Head) -> None:
    """A namespace for the package, with an OperatorGroup for the narrowest install mode that it supports."""
    home, targets = head.package, head.targets
    installation.apply(*(a_namespace(name) for name in {home, *targets}))
    if needed := PREPARED.get(home):
        meta = {"name": needed.name, "namespace": needed.namespace}
        installation.apply({"apiVersion": needed.api_version, "kind": needed.kind, "metadata": meta})
    installation.apply(an_operator_group(home, targets=targets))


def subscribe(installation: Installation, head: Head, starting: str = "", source: str = SOURCE) -> None:
    """A Subscription to the package in its prepared namespace; `starting` is a version to begin with."""
    installation.apply(a_subscription(head.package, head.package, source=source, startingCSV=starting))


def subscribe_all(
    installation: Installation, found: Iterable[Head], starting: Mapping[str, str] = NO_STARTS, source: str = SOURCE
) -> None:
    """The same for several packages at once, behind `FIRST`; `starting` are versions to begin with, by head."""
    for head in sorted(found, key=lambda head: head.package != FIRST):
        subscribe(installation, head, starting.get(head.csv, ""), source)
        if head.package == FIRST:
            wait_for(lambda: installation.cluster.get(RULES), f"{RULES}", seconds=PATIENCE_SECONDS)


def oldest(bundles: Path) -> dict[str, str]:
    """Each version to the one that an upgrade to it begins with: what it replaces, and so on, as far as it is here."""
    before = {csv["metadata"]["name"]: csv["spec"].get("replaces") for csv in versions(bundles)} | SKIPPED

    def begin(name: str) -> str:
        return begin(before[name]) if before[name] in before.keys() - OBSOLETE else name

    return {name: begin(name) for name in before}
