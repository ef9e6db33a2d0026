"""Say on the ClusterOperator of an OpenShift that this installation works, and whether its operators allow an upgrade.

Reads:  the ClusterVersion and the ClusterOperator; OperatorGroups and the ClusterServiceVersions in their namespaces.
Writes: the ClusterOperator, and its status. Nothing without a ClusterVersion: then it is no OpenShift.
"""

from __future__ import annotations

from shared.api.views import ClusterVersion, Csv, Object, OperatorGroup
from shared.domain.csv import cluster_operator
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP
from shared.ports import Clock, Cluster, Policy
from shared.step import NOTHING, Create, Outcome, Ref, SetStatus


def report_to_openshift(_: Ref, cluster: Cluster, clock: Clock, *, policy: Policy) -> Outcome:
    """Write one status for the whole installation (key: our ClusterOperator)."""
    version = ClusterVersion.of(cluster.get(cluster_operator.VERSION))
    if version is None:
        return NOTHING
    present = Object.of(cluster.get(cluster_operator.OURS))
    if present is None:  # its event leads here again
        return Outcome((Create(cluster_operator.cluster_operator()),))
    spaces = sorted({group.namespace for group in OperatorGroup.each(cluster.list(OPERATOR_GROUP))})
    found = (csv for space in spaces for csv in Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, space)))
    originals = [csv for csv in found if not csv.is_copy]
    status = cluster_operator.status_of(present, version, originals, home=policy.global_namespace, now=clock.now())
    writes = (SetStatus(Ref.of(present), status, present.resource_version),) if status != present.status else ()
    return Outcome(writes, summary=f"the cluster is told of {len(originals)} versions")
