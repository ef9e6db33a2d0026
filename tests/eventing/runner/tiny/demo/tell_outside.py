"""Creates more than one slice of ConfigMaps, and tells of them outside."""

from __future__ import annotations

from shared import names
from shared.step import Create, Emit, Outcome, Ref


def tell_outside(ref: Ref) -> Outcome:
    metas = ({"name": f"map-{n}", "namespace": ref.namespace} for n in range(60))
    maps = ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta} for meta in metas)
    return Outcome(tuple(map(Create, maps)), (Emit(names.PLAN_WAITING, ref),))
