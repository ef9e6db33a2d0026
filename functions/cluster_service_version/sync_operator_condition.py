"""Create the OperatorCondition of a ClusterServiceVersion, let its ServiceAccounts write it, and copy their report.

Reads:  the version, its OperatorCondition, the Role and RoleBinding of the same name.
Writes: these three, unless the Role or RoleBinding is somebody else's; the status of the OperatorCondition. Enqueues
        the version while it is being replaced.
"""

from __future__ import annotations

from shared import names
from shared.api.views import Csv, Object, OperatorCondition
from shared.domain.csv import operator_condition
from shared.domain.csv.operator_condition import is_ours
from shared.kinds import OPERATOR_CONDITION
from shared.ports import Clock, Cluster
from shared.step import NOTHING, Create, Emit, Merge, Outcome, Ref, Replace, SetStatus, Write


def sync_operator_condition(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    """Update the OperatorCondition of a version that is not a copy, with its Role and RoleBinding."""
    csv = Csv.of(cluster.get(ref))
    if csv is None or csv.is_copy or csv.is_leaving:
        return NOTHING
    target = OPERATOR_CONDITION.ref(ref.name, ref.namespace)
    present, desired = OperatorCondition.of(cluster.get(target)), operator_condition.operator_condition(csv)
    ours = OperatorCondition(desired)
    owner = present or ours
    rbac = (operator_condition.role(ours, owner=owner), operator_condition.role_binding(ours, owner=owner))
    if present is None:  # a Role that exists is looked at by the next run, before anybody is bound to it
        return Outcome((Create(desired), *(Create(item, must_be_new=True) for item in rbac)))
    writes: list[Write] = []
    if patch := operator_condition.repair(desired, present):
        writes.append(Merge(target, patch, present.resource_version))
    found = [Object.of(cluster.get(Ref.of(item))) for item in rbac]
    taken = [f"{one.kind} {one.name} belongs to somebody else" for one in found if one and not is_ours(one)]
    for item, stored in zip(rbac, found, strict=True) if not taken else ():
        if stored is None:
            writes.append(Create(item, must_be_new=True))
        elif changed := operator_condition.corrected(item, stored):
            writes.append(Replace(changed))
    if (status := operator_condition.mirrored(present, clock.now())) != present.status:
        writes.append(SetStatus(target, status, present.resource_version))
    # The upgrade may continue now: the successor of this version reads its condition (`Upgradeable`).
    emits = (Emit(names.REQUIREMENT_CHANGED, ref),) if csv.phase == "Replacing" else ()
    return Outcome(tuple(writes), emits, summary=", ".join(taken))
