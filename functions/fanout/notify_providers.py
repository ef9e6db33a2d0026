"""Enqueue the groups that provide an API when somebody changed or deleted its ClusterRoles.

Reads:  OperatorGroups; the ClusterServiceVersions in their namespaces.
Writes: nothing.
"""

from __future__ import annotations

from shared import names
from shared.api.views import Csv
from shared.domain.operator_groups.provision import aggregated, claims
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP
from shared.ports import Cluster
from shared.step import Emit, Outcome, Ref


def notify_providers(ref: Ref, cluster: Cluster) -> Outcome:
    """Enqueue each group with a member that claims the CustomResourceDefinition or APIService at `ref`."""
    groups = [Ref.of(group) for group in cluster.list(OPERATOR_GROUP)]
    # why: a namespace may have many groups, and its versions are read once
    providing = [
        place for place in dict.fromkeys(group.namespace for group in groups) if _provides(place, ref, cluster)
    ]
    emits = tuple(Emit(names.GRANT_DUE, group) for group in groups if group.namespace in providing)
    return Outcome(emits=emits, summary=f"concerns {len(emits)} groups")


def _provides(namespace: str, api: Ref, cluster: Cluster) -> bool:
    members = Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, namespace))
    return any((api in claims(csv) or api in aggregated(csv)) and not csv.is_copy for csv in members)
