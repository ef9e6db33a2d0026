"""Write the RBAC of an OperatorGroup: for users of the provided APIs, and for operators in the target namespaces.

Reads:  all groups; the versions of its namespace, the definitions that they claim, their InstallPlans (or Roles and
        RoleBindings); our roles; copies in target namespaces; APIServices.
Writes: ClusterRoles of the group and of each provided API; the permissions of members, as ClusterRoles (all namespaces)
        or as Roles in the target namespaces. Deletes those of APIs that no version provides, and of deleted groups.
"""

from __future__ import annotations

from functions.operator_group._rights import lacking_rights
from shared import names
from shared.api.manifest import is_deleted, labels_of, name_of, uid_of
from shared.domain.csv.admission import is_admitted
from shared.domain.objects.csv import is_copied
from shared.domain.operator_groups import members, roles, targets
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.provision import claims, provisions, reserved
from shared.domain.unsupported import VERSION, unsupported
from shared.kinds import API_SERVICE, CLUSTER_ROLE, CLUSTER_SERVICE_VERSION, OPERATOR_GROUP
from shared.ports import Cluster, Inventory, Policy
from shared.step import Apply, Delete, Outcome, Ref


def grant_access(ref: Ref, cluster: Cluster, inventory: Inventory, policy: Policy) -> Outcome:
    """Create, repair and withdraw the roles of one group (key: the OperatorGroup)."""
    present = {Ref.of(role): role for role in cluster.list(CLUSTER_ROLE, labels={names.MANAGED: "true"})}
    found = cluster.list(CLUSTER_SERVICE_VERSION, ref.namespace)
    csvs = [csv for csv in found if not is_copied(csv) and not is_deleted(csv)]
    taken, read = reserved(cluster.list(API_SERVICE) if any(map(claims, csvs)) else ()), cluster.get
    provided = {name_of(csv): tuple(provisions(csv, {one: read(one) for one in claims(csv)}, taken)) for csv in csvs}
    everything = [one for each in provided.values() for one in each]
    gone = roles.withdrawn(present.values(), ref.namespace, everything)
    manifest = cluster.get(ref)
    if manifest is None:
        labels = roles.group_labels(ref.namespace, ref.name).items()
        gone += tuple(role for role in present.values() if labels <= labels_of(role).items())
    deletions = tuple(Delete(Ref.of(role), uid_of(role)) for role in gone if not is_deleted(role))
    if manifest is None:
        return Outcome(deletions, verdict="the group is gone")
    group, groups, unfit_name = Group.of(manifest), cluster.list(OPERATOR_GROUP), targets.unfit_name(manifest)
    fit = [csv for csv in csvs if is_admitted(csv, groups) and not unsupported(VERSION, csv)]
    wanted = [] if unfit_name else [*roles.group_roles(group, {one.api for one in everything})]
    healthy = [one for csv in filter(members.has_succeeded, fit) for one in provided[name_of(csv)]]
    wanted += roles.wanted(healthy, present)
    writes = [Apply(role) for role in wanted if not roles.is_in_place(role, present.get(Ref.of(role)))]
    able = [csv for csv in fit if members.has_claims(csv, group)]
    writes += [Apply(item) for csv in able for item in lacking_rights(csv, group, cluster, inventory, policy=policy)]
    verdict = f"{len(writes)} roles or bindings to write, {len(deletions)} to withdraw"
    return Outcome((*deletions, *writes), verdict=unfit_name or verdict)
