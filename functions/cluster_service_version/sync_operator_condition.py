"""Create the OperatorCondition of a ClusterServiceVersion, let its ServiceAccounts write it, and copy their report.

Reads:  the version, its OperatorCondition, the Role and RoleBinding of the same name.
Writes: these three; the status of the OperatorCondition. Rings the version while it is being replaced.
"""

from __future__ import annotations

from shared import names
from shared.api.manifest import is_deleted, resource_version_of
from shared.domain.csv import operator_condition
from shared.domain.objects.csv import is_copied, phase_of
from shared.kinds import OPERATOR_CONDITION
from shared.ports import Clock, Cluster
from shared.step import NOTHING, Create, Emit, Merge, Outcome, Ref, Replace, SetStatus, Write


def sync_operator_condition(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    """Update the OperatorCondition of a version that is not a copy, with its Role and RoleBinding."""
    csv = cluster.get(ref)
    if csv is None or is_copied(csv) or is_deleted(csv):
        return NOTHING
    target = OPERATOR_CONDITION.ref(ref.name, ref.namespace)
    present, wanted = cluster.get(target), operator_condition.operator_condition(csv)
    owner = present or wanted
    rights = (operator_condition.role(wanted, owner=owner), operator_condition.role_binding(wanted, owner=owner))
    if present is None:
        return Outcome((Create(wanted), *map(Create, rights)))
    writes: list[Write] = []
    if patch := operator_condition.repair(wanted, present):
        writes.append(Merge(target, patch, resource_version_of(present)))
    for item in rights:
        found = cluster.get(Ref.of(item))
        if found is None:
            writes.append(Create(item))
        elif changed := operator_condition.corrected(item, found):
            writes.append(Replace(changed))
    if (status := operator_condition.mirrored(present, clock.now())) != (present.get("status") or {}):
        writes.append(SetStatus(target, status, resource_version_of(present)))
    # The upgrade may continue now: the successor of this version reads its condition (`Upgradeable`).
    emits = (Emit(names.REQUIREMENT_CHANGED, ref),) if phase_of(csv) == "Replacing" else ()
    return Outcome(tuple(writes), emits)
