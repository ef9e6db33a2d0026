"""Reads what several kinds have in a namespace, marks two ConfigMaps, and tells about one."""

from __future__ import annotations

from shared import names
from shared.kinds import CONFIG_MAP, DEPLOYMENT, OPERATOR_GROUP, SUBSCRIPTION
from shared.ports import Cluster
from shared.step import Emit, Merge, Outcome, Ref


def join_maps(ref: Ref, cluster: Cluster) -> Outcome:
    kinds = (SUBSCRIPTION, OPERATOR_GROUP, DEPLOYMENT)
    count = sum(len(cluster.list(kind, place)) for kind in kinds for place in (ref.namespace, ""))
    maps = (ref, CONFIG_MAP.ref("other", ref.namespace))
    marks = {each: int(((cluster.get(each) or {}).get("data") or {}).get("count", "0")) + 1 for each in maps}
    writes = (Merge(each, {"data": {"count": str(mark), "kinds": str(count)}}) for each, mark in marks.items())
    return Outcome(tuple(writes), (Emit(names.GROUP_CHANGED, ref),))
