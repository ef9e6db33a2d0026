"""Enqueue the ClusterExtensions that a ClusterCatalog may concern when it came, changed or went.

Reads:  ClusterExtensions; the catalog.
Writes: nothing.
"""

from __future__ import annotations

from shared import kinds, names
from shared.api.views import ClusterCatalog, ClusterExtension
from shared.domain.extension.decision import may_select
from shared.ports import Cluster
from shared.step import Emit, Outcome, Ref


def notify_extensions(ref: Ref, cluster: Cluster) -> Outcome:
    """Enqueue each extension that selects the catalog at `ref`; all of them when it is gone, with its labels."""
    catalog = ClusterCatalog.of(cluster.get(ref))
    found = ClusterExtension.each(cluster.list(kinds.CLUSTER_EXTENSION))
    concerned = [one for one in found if catalog is None or may_select(one, catalog)]
    emits = tuple(Emit(names.DEPENDENT_CHANGED, Ref.of(one)) for one in concerned)
    return Outcome(emits=emits, summary=f"concerns {len(emits)} extensions")
