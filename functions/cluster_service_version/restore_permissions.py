"""Restore the RBAC objects of an installed version when somebody deleted or changed some of them.

OLM leaves the version `Failed` until a person restores its roles; the InstallPlan that made them does not run again.
Only objects that such a plan made are restored: permission to write a version must not give the rights it asks for.

Reads:  the version; the InstallPlans of its namespace; the ServiceAccounts, roles and bindings that they made for it;
        its group, and the ServiceAccount that this names.
Writes: those of these objects that were deleted, with the rights of that account.
Emits:  `io.olmf.grant.due`: its OperatorGroup (of a copy: that of the original) checks the roles that it granted.
"""

from __future__ import annotations

from shared import names
from shared.api.manifest import name_of
from shared.api.views import Csv, InstallPlan
from shared.domain.csv import rbac
from shared.domain.operator_groups.identity import Identity, Nobody
from shared.kinds import INSTALL_PLAN, OPERATOR_GROUP
from shared.ports import Attempt, Cluster
from shared.reading.identity import identity_in
from shared.step import NOTHING, Create, Emit, Outcome, Ref, acting_as

_LEAVING = ("Replacing", "Deleting")


def restore_permissions(ref: Ref, cluster: Cluster, attempt: Attempt) -> Outcome:
    """Create the deleted RBAC objects that a plan made, unless the version itself is being deleted."""
    csv = Csv.of(cluster.get(ref))
    if csv is None or csv.is_leaving or csv.phase in _LEAVING:
        return NOTHING
    if csv.is_copy:
        return Outcome(emits=_group(csv), summary="rights beside a copy come from the group of its original")
    planned = rbac.created_by_plans(csv, InstallPlan.each(cluster.list(INSTALL_PLAN, ref.namespace)))
    desired = [each for each in rbac.objects_for(csv, ref.namespace) if (each["kind"], name_of(each)) in planned]
    refs = ((Ref.read(manifest), manifest) for manifest in desired)
    gone = tuple(Create(manifest) for one, manifest in refs if one and cluster.get(one) is None)
    found = f"{len(gone)} of {len(desired)} generated rights were gone"
    actor = identity_in(ref.namespace, cluster) if gone else Identity()
    if isinstance(actor, Nobody):
        return Outcome(emits=_group(csv), summary=f"{found}, and are not restored: {actor.message}")
    if (failure := attempt.failure) and failure.kind == "forbidden":
        return Outcome(emits=_group(csv), summary=f"{found}, and are not restored: {failure.message}")
    return Outcome(acting_as(actor.account, gone), _group(csv), summary=found)


def _group(csv: Csv) -> tuple[Emit, ...]:
    group = OPERATOR_GROUP.ref_or_none(csv.operator_group, csv.operator_namespace)
    return (Emit(names.GRANT_DUE, group),) if group else ()
