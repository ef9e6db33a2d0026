"""Counts the watched objects for Prometheus: OLM's metrics (csv.md §14, catalog.md §6), and ours of OLM v1.

The gauges are computed from the API, so they survive a restart; the two counters start again at zero, as counters may.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from eventing.metrics.exposition import Series
from eventing.watch.namespaced import Key, ListedKeys
from shared.api import fields
from shared.api.manifest import ReadOnly, name_of, namespace_of, resource_version_of
from shared.api.views import ClusterExtension, Csv, Object, Subscription
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_CATALOG,
    CLUSTER_EXTENSION,
    CLUSTER_OBJECT_SET,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    SUBSCRIPTION,
    Kind,
)
from shared.telemetry import Metric

COUNTED: Mapping[Kind, Metric] = {
    CLUSTER_SERVICE_VERSION: Metric.csv_count,
    INSTALL_PLAN: Metric.install_plan_count,
    SUBSCRIPTION: Metric.subscription_count,
    CATALOG_SOURCE: Metric.catalog_source_count,
    CLUSTER_CATALOG: Metric.olmf_cluster_catalog_count,
    CLUSTER_EXTENSION: Metric.olmf_cluster_extension_count,
    CLUSTER_OBJECT_SET: Metric.olmf_cluster_object_set_count,
}
"""Kinds that are counted; their watches fetch whole objects."""
_UNVERSIONED = "0.0.0"


@dataclass(slots=True)
class ObjectMetrics:
    """The objects of the counted kinds, reduced to what the metrics need."""

    known: dict[tuple[Kind, str, str], _Known] = field(default_factory=dict)
    upgrades: int = 0

    def put(self, kind: Kind, manifest: ReadOnly) -> None:
        """Record an object that exists, new or changed."""
        key = (kind, namespace_of(manifest), name_of(manifest))
        if kind == CLUSTER_SERVICE_VERSION and Csv(manifest).is_copy:
            self.known.pop(key, None)
            return
        before, now = (
            self.known.get(key),
            _Known(resource_version_of(manifest), Csv(manifest).phase, _series(kind, manifest), _connected(manifest)),
        )
        if before and before.version == now.version:
            return
        if kind == SUBSCRIPTION and before:
            now.series = {series: count + before.series.get(series, 0) for series, count in now.series.items()}
        if kind == CATALOG_SOURCE:
            now.contents = before.contents + (now.connected != before.connected) if before else 0
            now.series = {**now.series, _snapshots(manifest): now.contents}
        if kind == CLUSTER_SERVICE_VERSION and before and now.phase == "Replacing" != before.phase:
            self.upgrades += 1
        self.known[key] = now

    def drop(self, kind: Kind, namespace: str, name: str) -> None:
        """Remove an object that was deleted, and its series."""
        self.known.pop((kind, namespace, name), None)

    def keep(self, kind: Kind, listed: ListedKeys) -> None:
        """Remove the objects of a kind that were not listed."""
        for key in [key for key in self.known if key[0] == kind and key[1:] not in listed]:
            del self.known[key]

    def values(self) -> Mapping[Series, float]:
        """The present value of each series."""
        values = Counter({Series(metric): 0 for metric in COUNTED.values()})
        values[Series(Metric.csv_upgrade_count)] = self.upgrades
        for (kind, _, _), object_ in self.known.items():
            values[Series(COUNTED[kind])] += 1
            values.update(object_.series)
        return values


@dataclass(slots=True)
class _Known:
    version: str
    phase: str
    series: Mapping[Series, int]
    """Of a Subscription: the number of its changes since its labels last changed."""
    connected: str = ""
    """When the present content of a catalog came."""
    contents: int = 0
    """How often that changed since the watch began."""


def _place(manifest: ReadOnly) -> tuple[tuple[str, str], ...]:
    return ("namespace", namespace_of(manifest)), ("name", name_of(manifest))


def _connected(manifest: ReadOnly) -> str:
    return fields.text(manifest, "status", "connectionState", "lastConnect")


def _snapshots(manifest: ReadOnly) -> Series:
    return Series(Metric.catalog_source_snapshots_total, _place(manifest))


def _series(kind: Kind, manifest: ReadOnly) -> Mapping[Series, int]:
    place = _place(manifest)
    spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
    if kind == CLUSTER_SERVICE_VERSION:
        return dict(_health(manifest, (*place, ("version", str(spec.get("version") or _UNVERSIONED)))))
    if kind == CATALOG_SOURCE:
        state = (status.get("connectionState") or {}).get("lastObservedState")
        return {Series(Metric.catalogsource_ready, place): int(state == "READY")}
    if kind == SUBSCRIPTION:
        named = {
            "name": name_of(manifest), "installed": Subscription(manifest).installed_csv,
            "channel": spec.get("channel"), "package": spec.get("name"), "approval": spec.get("installPlanApproval"),
        }  # fmt: skip
        labels = tuple((key, str(value or "")) for key, value in named.items())
        return {Series(Metric.subscription_sync_total, labels): 1}
    if kind == CLUSTER_CATALOG:
        serving = Object(manifest).condition("Serving").is_true
        return {Series(Metric.olmf_cluster_catalog_serving, (("name", name_of(manifest)),)): int(serving)}
    return dict(_extension(ClusterExtension(manifest))) if kind == CLUSTER_EXTENSION else {}


def _extension(extension: ClusterExtension) -> Iterator[tuple[Series, int]]:
    """Whether it is installed; and while it is not as it should be, what it states as the reason."""
    labels = (("name", extension.name), ("package", fields.text(extension.source, "packageName")))
    yield Series(Metric.olmf_cluster_extension_installed, labels), int(extension.condition("Installed").is_true)
    progressing, available = extension.condition("Progressing"), extension.condition("Available")
    reason = available.reason if available.status == "False" else progressing.reason
    if reason not in ("", "Succeeded", "ProbesSucceeded"):
        yield Series(Metric.olmf_cluster_extension_abnormal, (*labels, ("reason", reason))), 1


def _health(csv: ReadOnly, labels: tuple[tuple[str, str], ...]) -> Iterator[tuple[Series, int]]:
    phase = Csv(csv).phase
    if phase:
        yield Series(Metric.csv_succeeded, labels), int(phase == "Succeeded")
    if phase not in ("", "Succeeded"):
        yield Series(Metric.csv_abnormal, (*labels, ("phase", phase), ("reason", Csv(csv).reason))), 1


@dataclass(frozen=True, slots=True)
class Counting:
    """A follower that counts the objects of a kind."""

    kind: Kind
    metrics: ObjectMetrics

    def put(self, manifest: ReadOnly) -> None:
        """An object, as it is now."""
        self.metrics.put(self.kind, manifest)

    def drop(self, key: Key) -> None:
        """The object is gone."""
        self.metrics.drop(self.kind, *key)

    def keep(self, listed: ListedKeys) -> None:
        """Only these objects are left."""
        self.metrics.keep(self.kind, listed)
