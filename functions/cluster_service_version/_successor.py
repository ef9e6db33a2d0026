"""What is read of the successor of a version."""

from __future__ import annotations

from shared import kinds
from shared.api.views import Csv, OperatorGroup
from shared.domain.csv import retirement
from shared.domain.csv.phases import Status
from shared.domain.csv.transition import Transition
from shared.ports import Cluster


def replaced_by_successor(csv: Csv, cluster: Cluster, status: Status) -> Transition | None:
    """The transition of a version that is replaced; None while it is installed, and without a successor."""
    if status.phase == "Installing":
        return None
    namespace_csvs = Csv.each(cluster.list(kinds.CLUSTER_SERVICE_VERSION, csv.namespace))
    groups = cluster.list(kinds.OPERATOR_GROUP, csv.namespace) if status.phase == "Failed" else ()
    return retirement.begin(csv, namespace_csvs, OperatorGroup.each(groups), status)
