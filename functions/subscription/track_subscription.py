"""Bring the status of a Subscription up to date with its plan, its operator and its catalogs."""

from __future__ import annotations

from collections.abc import Sequence

from shared import kinds
from shared.api.manifest import Manifest, ReadOnly, version_of
from shared.domain.catalog.model import Package
from shared.domain.resolver.scene import catalog_of, is_copy
from shared.domain.subscription import health, track
from shared.domain.subscription.state import plan_of
from shared.domain.subscription.track import Surroundings
from shared.kinds import Kind
from shared.ports import Catalogs, Clock, Cluster, ImageSource, Policy
from shared.step import NOTHING, Merge, Outcome, Ref, SetStatus, Write


def track_subscription(ref: Ref, cluster: Cluster, catalogs: Catalogs, clock: Clock, policy: Policy) -> Outcome:
    """Bring the status of a Subscription up to date with its plan, its operator and its catalogs.

    Reads:  the Subscription, its InstallPlan, its ClusterServiceVersion; the catalogs it may use.
    Writes: its status (state, installedCSV, catalogHealth, the conditions of `track.CONDITIONS`); its label.
    """
    subscription = cluster.get(ref)
    if subscription is None:
        return NOTHING
    sources = health.visible(cluster.list(kinds.CATALOG_SOURCE), ref.namespace, policy.global_namespace)
    current = str((subscription.get("status") or {}).get("currentCSV") or "")
    csv = _named(cluster, kinds.CLUSTER_SERVICE_VERSION, current, ref)
    seen = Surroundings(
        sources,
        plan=_named(cluster, kinds.INSTALL_PLAN, plan_of(subscription), ref),
        current=None if csv is None or is_copy(csv) else csv,
        package=_package(subscription, sources, catalogs),
    )
    status = track.tracked(subscription, seen, clock.now())
    patch = track.label_patch(subscription)
    writes: list[Write] = [] if status is None else [SetStatus(ref, status, version_of(subscription))]
    if patch is not None:
        writes.append(Merge(ref, patch))
    return Outcome(tuple(writes))


def _named(cluster: Cluster, kind: Kind, name: str, near: Ref) -> Manifest | None:
    return cluster.get(kind.ref(name, near.namespace)) if name else None


def _package(subscription: Manifest, sources: Sequence[ReadOnly], catalogs: Catalogs) -> Package | None:
    """The package in its catalog; None when nothing is installed or the catalog cannot be read."""
    spec, status = subscription["spec"], subscription.get("status") or {}
    for source in sources:
        one = catalog_of(source)
        if status.get("currentCSV") and (one.key.namespace, one.key.name) == (spec["sourceNamespace"], spec["source"]):
            found = catalogs.package(one.reference, spec["name"], ImageSource(*one.origin)) if one.reference else None
            return found if isinstance(found, Package) else None
    return None
