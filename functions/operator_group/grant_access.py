"""Write the RBAC of an OperatorGroup: for users of the provided APIs, and for operators in the target namespaces.

Reads:  all groups; the versions of its namespace, the definitions that they claim, their InstallPlans (or Roles and
        RoleBindings); our roles; copies in target namespaces; APIServices.
Writes: ClusterRoles of the group and of each provided API; the permissions of members, as ClusterRoles (all namespaces)
        or as Roles in the target namespaces. Deletes those of APIs that no version provides, and of deleted groups.
"""

from __future__ import annotations

from collections.abc import Iterator

from shared import names
from shared.api.manifest import Manifest, is_deleted, labels_of, name_of, uid_of
from shared.domain.csv import projection
from shared.domain.csv.admission import is_admitted
from shared.domain.objects.csv import is_copied
from shared.domain.objects.ownership import owner_labels
from shared.domain.operator_groups import members, roles, targets
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.provision import claims, provisions, reserved
from shared.domain.unsupported import VERSION, unsupported
from shared.kinds import (
    API_SERVICE,
    CLUSTER_ROLE,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    OPERATOR_GROUP,
    ROLE,
    ROLE_BINDING,
)  # fmt: skip
from shared.ports import Cluster, Policy
from shared.step import Apply, Delete, Outcome, Ref


def grant_access(ref: Ref, cluster: Cluster, policy: Policy) -> Outcome:
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
    deletions = tuple(Delete(Ref.of(role), uid_of(role)) for role in gone)
    if manifest is None:
        return Outcome(deletions, verdict="the group is gone")
    group, groups, unfit_name = Group.of(manifest), cluster.list(OPERATOR_GROUP), targets.unfit_name(manifest)
    fit = [csv for csv in csvs if is_admitted(csv, groups) and not unsupported(VERSION, csv)]
    wanted = [] if unfit_name else [*roles.group_roles(group, {one.api for one in everything})]
    healthy = [one for csv in filter(members.has_succeeded, fit) for one in provided[name_of(csv)]]
    wanted += roles.wanted(healthy, present)
    writes = [Apply(role) for role in wanted if not roles.is_in_place(role, present.get(Ref.of(role)))]
    able = [csv for csv in fit if members.has_claims(csv, group)]
    writes += [Apply(item) for csv in able for item in _rights(csv, group, cluster, policy)]
    verdict = f"{len(writes)} roles or bindings to write, {len(deletions)} to withdraw"
    return Outcome((*deletions, *writes), verdict=unfit_name or verdict)


def _rights(csv: Manifest, group: Group, cluster: Cluster, policy: Policy) -> Iterator[Manifest]:
    """The RBAC objects that the operator lacks outside its namespace."""
    outside = [target for target in group.targets or () if target != group.namespace]
    if not outside or not members.has_permissions(csv):
        return
    if policy.lift_foreign_roles:
        found = [cluster.list(kind, group.namespace, labels=owner_labels(csv)) for kind in (ROLE, ROLE_BINDING)]
        granted = projection.owned(found[0], csv), projection.owned(found[1], csv)
    else:
        granted = projection.planned(csv, cluster.list(INSTALL_PLAN, group.namespace))
    written, labels = projection.written(csv, is_lifted=group.is_global)
    find = projection.finder([one for kind in written for one in cluster.list(kind, labels=labels)], cluster.get)
    if group.is_global:
        yield from projection.lacking(projection.lifted(granted, projection.taken(granted, find)), find)
    for target in () if group.is_global else outside:
        if copy := CLUSTER_SERVICE_VERSION.look_up(cluster.get, name_of(csv), target):
            yield from projection.lacking(projection.projected(csv, copy, granted), find)
