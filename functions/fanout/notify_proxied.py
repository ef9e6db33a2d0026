"""Enqueue every version when the proxy of an OpenShift changes: their Deployments name it (csv.md §6.3).

Reads:  OperatorGroups and the ClusterServiceVersions in their namespaces.
Writes: nothing.
"""

from __future__ import annotations

from functions.fanout._rights import originals
from shared import names
from shared.api.views import OperatorGroup
from shared.domain.csv.overrides import PROXY
from shared.kinds import OPERATOR_GROUP
from shared.ports import Cluster
from shared.step import Emit, Outcome, Ref


def notify_proxied(ref: Ref, cluster: Cluster) -> Outcome:
    """Enqueue each version that has Deployments; only the Proxy that the cluster uses counts."""
    if ref != PROXY:
        return Outcome(summary="only the Proxy named cluster counts")
    spaces = {group.namespace for group in OperatorGroup.each(cluster.list(OPERATOR_GROUP))}
    emits = tuple(Emit(names.CONFIG_CHANGED, Ref.of(csv)) for csv in originals(spaces, cluster))
    return Outcome(emits=emits, summary=f"concerns {len(emits)} versions")
