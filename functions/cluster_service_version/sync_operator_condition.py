"""Create the OperatorCondition of a ClusterServiceVersion, let its ServiceAccounts write it, and copy their report.

Reads:  the version, its OperatorCondition, the Role and RoleBinding of the same name.
Writes: these three; the status of the OperatorCondition. Enqueues the version while it is being replaced.
"""

from __future__ import annotations

from shared import names
from shared.api.views import Csv, Object, OperatorCondition
from shared.domain.csv import operator_condition
from shared.kinds import OPERATOR_CONDITION
from shared.ports import Clock, Cluster
from shared.step import NOTHING, Create, Emit, Merge, Outcome, Ref, Replace, SetStatus, Write


def sync_operator_condition(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    """Update the OperatorCondition of a version that is not a copy, with its Role and RoleBinding."""
    csv = Csv.of(cluster.get(ref))
    if csv is None or csv.is_copy or csv.is_deleted:
        return NOTHING
    target = OPERATOR_CONDITION.ref(ref.name, ref.namespace)
    present, wanted = OperatorCondition.of(cluster.get(target)), operator_condition.operator_condition(csv)
    ours = OperatorCondition(wanted)
    owner = present or ours
    rights = (operator_condition.role(ours, owner=owner), operator_condition.role_binding(ours, owner=owner))
    if present is None:
        return Outcome((Create(wanted), *map(Create, rights)))
    writes: list[Write] = []
    if patch := operator_condition.repair(wanted, present):
        writes.append(Merge(target, patch, present.resource_version))
    for item in rights:
        found = Object.of(cluster.get(Ref.of(item)))
        if found is None:
            writes.append(Create(item))
        elif changed := operator_condition.corrected(item, found):
            writes.append(Replace(changed))
    if (status := operator_condition.mirrored(present, clock.now())) != present.status:
        writes.append(SetStatus(target, status, present.resource_version))
    # The upgrade may continue now: the successor of this version reads its condition (`Upgradeable`).
    emits = (Emit(names.REQUIREMENT_CHANGED, ref),) if csv.phase == "Replacing" else ()
    return Outcome(tuple(writes), emits)
