"""Give a ClusterServiceVersion its OperatorCondition, let its accounts write it, and take over what they report.

Reads:  the version, its OperatorCondition, the Role and RoleBinding of the same name.
Writes: these three; the status of the OperatorCondition.
"""

from __future__ import annotations

from shared.api.manifest import metadata, version_of
from shared.domain.groups import conditions
from shared.domain.lifecycle.phases import is_copied
from shared.kinds import OPERATOR_CONDITION
from shared.ports import Clock, Cluster
from shared.step import NOTHING, Create, Merge, Outcome, Ref, Replace, SetStatus, Write


def sync_operator_condition(ref: Ref, cluster: Cluster, clock: Clock) -> Outcome:
    """Bring the OperatorCondition of an original up to date."""
    csv = cluster.get(ref)
    if csv is None or is_copied(csv) or metadata(csv).get("deletionTimestamp"):
        return NOTHING
    target = OPERATOR_CONDITION.ref(ref.name, ref.namespace)
    present, wanted = cluster.get(target), conditions.operator_condition(csv)
    writes: list[Write] = []
    if present is None:
        writes.append(Create(wanted))
    elif patch := conditions.repair(wanted, present):
        writes.append(Merge(target, patch, version_of(present)))
    owner = present or wanted
    for item in (conditions.role(wanted, owner=owner), conditions.role_binding(wanted, owner=owner)):
        found = cluster.get(Ref.of(item))
        if found is None:
            writes.append(Create(item))
        elif changed := conditions.corrected(item, found):
            writes.append(Replace(changed))
    if present and (status := conditions.mirrored(present, clock.now())) != (present.get("status") or {}):
        writes.append(SetStatus(target, status, version_of(present)))
    return Outcome(tuple(writes))
