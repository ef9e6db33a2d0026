"""Let every revision look at its objects: nobody watches all the kinds that it may consist of.

Reads:  ClusterObjectSets.
Writes: nothing.
Emits:  `io.olmf.dependent.changed` for each revision that is not archived.
"""

from __future__ import annotations

from shared import kinds, names
from shared.api.views import ClusterObjectSet
from shared.ports import Cluster
from shared.step import Emit, Outcome, Ref


def audit_objects(_: Ref, cluster: Cluster) -> Outcome:
    """Enqueue each revision that is not archived: of objects of some kinds no event tells (key: anything)."""
    found = [one for one in ClusterObjectSet.each(cluster.list(kinds.CLUSTER_OBJECT_SET)) if not one.is_archived]
    emits = tuple(Emit(names.DEPENDENT_CHANGED, Ref.of(one)) for one in found)
    return Outcome(emits=emits, summary=f"{len(emits)} revisions look at their objects")
