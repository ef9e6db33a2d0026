"""Creates more than one slice of ConfigMaps, and tells of warnings."""

from __future__ import annotations

from shared import names
from shared.step import Create, Emit, Outcome, Record, Ref


def make_many(ref: Ref) -> Outcome:
    maps = (
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"map-{n}", "namespace": ref.namespace}}
        for n in range(70)
    )
    note = Record(ref, "Warning", "AppliedWithWarnings", "warning(s)")
    return Outcome(tuple(Create(one, note) for one in maps), (Emit(names.GROUP_CHANGED, ref),))
