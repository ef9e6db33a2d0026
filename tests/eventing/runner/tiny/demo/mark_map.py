"""Marks a ConfigMap as seen, and tells about it."""

from __future__ import annotations

from shared import names
from shared.ports import Clock, Cluster
from shared.step import NOTHING, Emit, Merge, Outcome, Ref


def mark_map(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    found = cluster.get(ref)
    if found is None:
        return NOTHING
    stamp = clock.now().isoformat()
    return Outcome(
        (Merge(ref, {"data": {"seen": stamp}}, found["metadata"]["resourceVersion"]),),
        (Emit(names.GROUP_CHANGED, ref),),
        summary=f"{ref.name} was seen",
    )
