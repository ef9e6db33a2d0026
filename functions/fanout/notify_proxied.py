"""Enqueue every version when the proxy of an OpenShift changes: their Deployments name it (csv.md §6.3).

Reads:  OperatorGroups, and all ClusterServiceVersions that are no copies.
Writes: nothing.
"""

from __future__ import annotations

from shared import names
from shared.domain.csv.overrides import PROXY
from shared.ports import Cluster
from shared.reading.originals import grouped_originals
from shared.step import Emit, Outcome, Ref


def notify_proxied(ref: Ref, cluster: Cluster) -> Outcome:
    """Enqueue each version that has Deployments; only the Proxy that the cluster uses counts."""
    if ref != PROXY:
        return Outcome(summary="only the Proxy named cluster counts")
    emits = tuple(Emit(names.CONFIG_CHANGED, Ref.of(csv)) for csv in grouped_originals(cluster))
    return Outcome(emits=emits, summary=f"concerns {len(emits)} versions")
