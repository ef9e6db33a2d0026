"""Say on the ClusterOperator of an OpenShift that this installation works, and whether its operators allow an upgrade.

Reads:  the ClusterVersion and the ClusterOperator; OperatorGroups, and all ClusterServiceVersions that are no copies.
Writes: the ClusterOperator, and its status. Nothing without a ClusterVersion: then it is no OpenShift.
"""

from __future__ import annotations

from shared.api.views import ClusterVersion, Object
from shared.domain.csv import cluster_operator
from shared.ports import Clock, Cluster, Policy
from shared.reading.originals import grouped_originals
from shared.step import NOTHING, Create, Outcome, Ref, SetStatus


def report_to_openshift(_: Ref, cluster: Cluster, clock: Clock, *, policy: Policy) -> Outcome:
    """Write one status for the whole installation (key: our ClusterOperator)."""
    version = ClusterVersion.of(cluster.get(cluster_operator.VERSION))
    if version is None:
        return NOTHING
    present = Object.of(cluster.get(cluster_operator.OURS))
    if present is None:  # its event leads here again
        return Outcome((Create(cluster_operator.cluster_operator()),))
    originals = [*grouped_originals(cluster)]
    status = cluster_operator.status_of(
        present, version, originals, global_namespace=policy.global_namespace, now=clock.now()
    )
    writes = (SetStatus(Ref.of(present), status, present.resource_version),) if status != present.status else ()
    return Outcome(writes, summary=f"the cluster is told of {len(originals)} versions")
