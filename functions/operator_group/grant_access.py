"""Write the RBAC of an OperatorGroup: for users of the provided APIs, and for operators in the target namespaces.

Reads:  all groups; the versions of its namespace, the definitions that they claim, their InstallPlans (or Roles and
        RoleBindings); our roles; copies in target namespaces; APIServices.
Writes: ClusterRoles of the group and of each provided API; permissions of members: ClusterRoles (all namespaces) or
        Roles (named ones), by the ServiceAccount of the group. Deletes those without an API, and of deleted groups.
"""

from __future__ import annotations

from collections.abc import Sequence

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import Csv, OperatorGroup, Role
from shared.domain.csv.admission import is_admitted
from shared.domain.operator_groups import members, roles, targets
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.identity import Nobody
from shared.kinds import CLUSTER_ROLE, CLUSTER_SERVICE_VERSION, OPERATOR_GROUP
from shared.ports import Attempt, Cluster, Inventory, Policy
from shared.reading.identity import identity_in
from shared.reading.permissions import missing_permissions
from shared.reading.provisions import provisions_of
from shared.step import Apply, Delete, Merge, Outcome, Record, Ref, Write, acting_as


def grant_access(ref: Ref, cluster: Cluster, inventory: Inventory, policy: Policy, *, attempt: Attempt) -> Outcome:
    """Create, repair and withdraw the roles of one group (key: the OperatorGroup)."""
    present = {Ref.of(role): role for role in Role.each(cluster.list(CLUSTER_ROLE, labels={names.MANAGED: "true"}))}
    found = Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, ref.namespace))
    csvs = [csv for csv in found if not csv.is_copy and not csv.is_deleted]
    provided = provisions_of(csvs, cluster, policy)
    everything = [one for each in provided.values() for one in each]
    gone = roles.withdrawn(present.values(), ref.namespace, everything)
    stored = OperatorGroup.of(cluster.get(ref))
    if stored is None:
        labels = roles.group_labels(ref.namespace, ref.name).items()
        gone += tuple(role for role in present.values() if labels <= role.labels.items())
    deletions = tuple(Delete(Ref.of(role), role.uid) for role in gone if not role.is_deleted)
    if stored is None:
        return Outcome(deletions, summary="the group is gone")
    group, unfit_name = Group.of(stored), targets.unfit_name(stored)
    groups = OperatorGroup.each(cluster.list(OPERATOR_GROUP))
    fit = [csv for csv in csvs if is_admitted(csv, groups)]
    desired = [] if unfit_name else [*roles.group_roles(group, {one.api for one in everything})]
    desired += roles.desired([one for csv in fit if csv.is_succeeded for one in provided[csv.name]], present)
    wrong = [role for role in desired if not roles.is_in_place(role, present.get(Ref.of(role)))]
    writes = [_write(role, present.get(Ref.of(role))) for role in wrong]
    able = [csv for csv in fit if members.has_claims(csv, group)]
    lacking = [
        Apply(item) for csv in able for item in missing_permissions(csv, group, cluster, inventory, policy=policy)
    ]
    writes += _grants(lacking, stored, cluster, attempt)
    summary = f"{len(writes)} roles or bindings to write, {len(deletions)} to withdraw"
    return Outcome((*deletions, *writes), summary=unfit_name or summary)


def _write(role: Manifest, present: Role | None) -> Write:
    if present and roles.aggregates_no_more(role, present):  # why: the rule may be OLM's, which an Apply leaves there
        return Merge(Ref.of(present), {"aggregationRule": None, "rules": []}, present.resource_version)
    return Apply(role)


def _grants(lacking: Sequence[Apply], group: OperatorGroup, cluster: Cluster, attempt: Attempt) -> tuple[Write, ...]:
    """The writes that give an operator what it lacks; an Event where the account of its group may not give that."""
    if not lacking:
        return ()
    actor = identity_in(group.namespace, cluster)
    if isinstance(actor, Nobody):
        return (Record(Ref.of(group), "Warning", "GrantRefused", actor.message),)
    if (refused := attempt.failure) and refused.kind == "forbidden":
        return (Record(Ref.of(group), "Warning", "GrantRefused", f"{refused.ref}: {refused.message}"),)
    return acting_as(actor.account, lacking)
