"""Mark two ConfigMaps, and enqueue about the first when it changed."""

from __future__ import annotations

from shared import names
from shared.ports import Cluster
from shared.step import Emit, Merge, Outcome, Ref

MARK = {"data": {"seen": "yes"}}


def mark_two(ref: Ref, cluster: Cluster) -> Outcome:
    """Mark the ConfigMap and the one called `two`."""
    is_changed = "data" not in (cluster.get(ref) or {})
    writes = (Merge(ref, MARK), Merge(Ref(ref.api_version, ref.kind, "two", ref.namespace), MARK))
    return Outcome(writes, (Emit(names.GROUP_CHANGED, ref),) if is_changed else ())
