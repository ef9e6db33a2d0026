"""The state of a bundle, and the writes that unpack it: for every step that needs one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from shared import kinds, names
from shared.api.views import ConfigMap
from shared.domain.unpack import pulled
from shared.domain.unpack import result as unpack_result
from shared.domain.unpack.objects import Unpacking
from shared.domain.unpack.result import Pulling, UnpackResult
from shared.ports import Cluster, Policy, Warnings
from shared.reading.unpacking import UnpackState, read_unpacking
from shared.step import Create, Delete, Emit, Merge, Ref, Replace, Write


def unpacked(
    desired: Unpacking, cluster: Cluster, now: datetime, *, warnings: Warnings, policy: Policy
) -> tuple[UnpackResult, tuple[Write, ...]]:
    """The state of a bundle, and the writes that unpack it or continue that: by a Job, or by a worker."""
    config_map = ConfigMap.of(cluster.get(kinds.CONFIG_MAP.ref(desired.name, desired.catalog.namespace)))
    if result := unpack_result.known(desired, config_map):
        return result, ()
    if policy.unpack == "direct" or desired.is_inline:
        state = pulled.state(desired, config_map, now)
        return state, tuple(_asking(desired, state, config_map))
    found = read_unpacking(desired, config_map, cluster, now, warnings=warnings)
    return found.result, tuple(_writes(desired, found))


def pulls(desired: Unpacking, result: UnpackResult) -> tuple[Emit, ...]:
    """The event that lets a worker pull the bundle, where that is what it waits for."""
    config_map = kinds.CONFIG_MAP.ref(desired.name, desired.catalog.namespace)
    return (Emit(names.BUNDLE_REQUESTED, config_map),) if isinstance(result, Pulling) else ()


def _asking(desired: Unpacking, result: UnpackResult, config_map: ConfigMap | None) -> Iterator[Write]:
    """The ConfigMap that tells the worker which image it is."""
    if isinstance(result, Pulling) and not result.has_asked:
        asking = pulled.requested_map(desired)
        yield Create(asking) if config_map is None else Merge(Ref.of(config_map), {"metadata": asking["metadata"]})


def _writes(desired: Unpacking, state: UnpackState) -> Iterator[Write]:
    yield from (Delete(Ref.of(one), one.uid) for one in state.repair.delete)
    yield from map(Replace, state.repair.replace)
    yield from map(Create, (*state.repair.create, *unpack_result.to_create(desired, state.result)))
    for job in unpack_result.to_delete(state.result):
        yield Delete(kinds.JOB.ref(job.name, desired.catalog.namespace), job.uid)
