"""Creates more than one slice of ConfigMaps."""

from __future__ import annotations

from shared import names
from shared.step import Create, Emit, Outcome, Ref


def make_many(ref: Ref) -> Outcome:
    maps = (
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"map-{n}", "namespace": ref.namespace}}
        for n in range(70)
    )
    return Outcome(tuple(map(Create, maps)), (Emit(names.GROUP_CHANGED, ref),))
