"""Mark a ClusterCatalog, say what its spec alone decides, and let it go when nothing of it is served any more.

Reads:  the ClusterCatalog.
Writes: its label and finalizer; its status while it is deleted, unavailable by its spec, or of no readable source.
"""

from __future__ import annotations

from shared.api.manifest import Manifest
from shared.api.views import ClusterCatalog
from shared.domain import cluster_catalog
from shared.ports import Clock, Cluster
from shared.step import NOTHING, Merge, Outcome, Ref, SetStatus


def guard_catalog(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    """One write a run, the status first: the change that it makes runs this again for the next one."""
    catalog = ClusterCatalog.of(cluster.get(ref))
    if catalog is None:
        return NOTHING
    release = cluster_catalog.released(catalog)
    if catalog.is_deleted:
        if release is None:
            return NOTHING
        after, summary = cluster_catalog.ended(catalog, clock.now()), "it is deleted"
    elif patch := cluster_catalog.marked(catalog):
        return _patched(catalog, patch, "it has a label and a finalizer from now on")
    elif catalog.is_disabled:
        after, summary = cluster_catalog.disabled(catalog, clock.now()), "it is unavailable by its spec"
    elif fault := cluster_catalog.spec_fault(catalog):
        after, summary, release = cluster_catalog.failed(catalog, fault, clock.now()), fault.message, None
    else:
        return NOTHING
    if after != catalog.status:
        return Outcome((SetStatus(ref, after, catalog.resource_version),), summary=summary)
    return _patched(catalog, release, summary) if release else Outcome(summary=summary)


def _patched(catalog: ClusterCatalog, patch: Manifest, summary: str) -> Outcome:
    return Outcome((Merge(Ref.of(catalog), patch, catalog.resource_version),), summary=summary)
