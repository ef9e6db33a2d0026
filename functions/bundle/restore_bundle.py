"""Unpack the bundles of a plan again whose ConfigMaps were deleted or changed before it was carried out.

In OLM the plan fails, and somebody has to delete it (catalog.md 9.15).

Reads:  the plan; the catalogs of its bundles; the OperatorGroups of its namespace; unpack objects, Events.
Writes: the unpack objects; those with another content are deleted first. The plan itself is tried again anyway.
"""

from __future__ import annotations

from functions.bundle._unpacked import pulls, unpacked
from shared import kinds, names
from shared.api.views import ConfigMap, InstallPlan, Job, OperatorGroup
from shared.domain.plan.state import is_finished
from shared.domain.unpack.references import is_altered
from shared.domain.unpack.result import describe
from shared.domain.unpack.settings import settings
from shared.ports import Clock, Cluster, Policy, Warnings
from shared.reading.unpacking import read_bundles
from shared.step import NOTHING, Delete, Emit, Outcome, Ref, Write


def restore_bundle(ref: Ref, cluster: Cluster, clock: Clock, *, policy: Policy, warnings: Warnings) -> Outcome:
    """Write the unpack objects that one plan lacks, as far as its catalogs still exist."""
    plan = InstallPlan.of(cluster.get(ref))
    if plan is None or is_finished(plan):
        return NOTHING
    limits = settings(OperatorGroup.each(cluster.list(kinds.OPERATOR_GROUP, ref.namespace)), policy.unpack_timeout)
    found: dict[str, str] = {}
    writes: list[Write] = []
    emits: list[Emit] = []
    for name, desired in read_bundles(plan, cluster, limits, policy):
        config_map = ConfigMap.of(cluster.get(kinds.CONFIG_MAP.ref(desired.name, desired.catalog.namespace)))
        if config_map is not None and is_altered(plan, config_map):
            found[name] = f"ConfigMap {desired.catalog.namespace}/{desired.name} has another content, and is made again"
            jobs = Job.each(cluster.list(kinds.JOB, desired.catalog.namespace, labels={names.UNPACK_REF: desired.name}))
            writes += [Delete(Ref.of(one), one.uid) for one in (*jobs, config_map)]
            continue
        result, unpacking = unpacked(desired, cluster, clock.now(), warnings=warnings, policy=policy)
        found[name] = describe(result)
        writes += unpacking
        emits += pulls(desired, result)
    return Outcome(tuple(writes), tuple(emits), summary="; ".join(f"{name}: {text}" for name, text in found.items()))
