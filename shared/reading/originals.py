"""The versions that are no copies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shared.api.views import Csv, OperatorGroup
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP
from shared.ports import Cluster


def originals(namespaces: Iterable[str], cluster: Cluster) -> Iterator[Csv]:
    """Those in these namespaces."""
    for namespace in sorted(namespaces):
        yield from (csv for csv in Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, namespace)) if not csv.is_copy)


def grouped_originals(cluster: Cluster) -> Iterator[Csv]:
    """Those of all namespaces with an OperatorGroup: no other one is installed."""
    return originals({group.namespace for group in OperatorGroup.each(cluster.list(OPERATOR_GROUP))}, cluster)
