"""The verdict on a bundle, and the writes that unpack it: for every step that needs one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from shared import kinds
from shared.api.manifest import Manifest, name_of, uid_of
from shared.domain.unpack import result as unpack_result
from shared.domain.unpack.objects import Unpacking
from shared.domain.unpack.result import Broken, Unpacked, UnpackResult
from shared.ports import Bundles, Cluster, Policy, Unavailable, Warnings
from shared.reading.unpacking import UnpackState, read_unpacking
from shared.step import Apply, Create, Delete, Ref, Replace, Write

_DIRECT_RETRY = timedelta(minutes=1)


def unpacked(
    wanted: Unpacking, cluster: Cluster, bundles: Bundles, now: datetime, *, warnings: Warnings, policy: Policy
) -> tuple[UnpackResult, tuple[Write, ...]]:
    """The verdict on a bundle, and the writes that unpack it or continue that: by a Job, or here."""
    config_map = cluster.get(kinds.CONFIG_MAP.ref(wanted.name, wanted.catalog.namespace))
    if verdict := unpack_result.known(wanted, config_map):
        return verdict, ()
    if policy.unpack == "direct":
        verdict, filled = _unpack_here(wanted, bundles)
        return verdict, tuple(map(Apply, filled))
    seen = read_unpacking(wanted, config_map, cluster, now, warnings=warnings)
    return seen.verdict, tuple(_writes(wanted, seen))


def _unpack_here(wanted: Unpacking, bundles: Bundles) -> tuple[UnpackResult, tuple[Manifest, ...]]:
    """The verdict on the bundle, and its ConfigMap, also of one that is refused: it is pulled only once."""
    match bundles.config_map_payload(wanted.source):
        case Unavailable(reason, message):
            return Broken(reason, message, _DIRECT_RETRY), ()
        case payload:
            filled = wanted.config_map(payload)
            return unpack_result.known(wanted, filled) or Unpacked(filled), (filled,)


def _writes(wanted: Unpacking, seen: UnpackState) -> Iterator[Write]:
    yield from (Delete(Ref.of(one), uid_of(one)) for one in seen.repair.delete)
    yield from map(Replace, seen.repair.replace)
    yield from map(Create, (*seen.repair.create, *unpack_result.to_create(wanted, seen.verdict)))
    for job in unpack_result.to_delete(seen.verdict):
        yield Delete(kinds.JOB.ref(name_of(job), wanted.catalog.namespace), uid_of(job))
