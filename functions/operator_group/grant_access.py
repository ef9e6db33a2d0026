"""Write the RBAC of an OperatorGroup: for users of the provided APIs, and for operators in the target namespaces.

Reads:  the group, its members, our roles; Roles and RoleBindings of members; copies in target namespaces.
Writes: ClusterRoles of the group and of each provided API; the permissions of members, as ClusterRoles (all namespaces)
        or as Roles in the target namespaces. Deletes the ClusterRoles of a group that was deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shared import names
from shared.api.manifest import Manifest, ReadOnly, uid_of
from shared.domain.groups import members, projection, roles, targets
from shared.domain.groups.group import Group
from shared.domain.groups.provided_apis import apis_of
from shared.domain.lifecycle.ownership import owner_labels
from shared.domain.lifecycle.phases import is_copied
from shared.kinds import CLUSTER_ROLE, CLUSTER_SERVICE_VERSION, ROLE, ROLE_BINDING
from shared.ports import Cluster
from shared.step import Apply, Delete, Outcome, Ref


def grant_access(ref: Ref, cluster: Cluster) -> Outcome:
    """Create and repair the roles of one group (key: the OperatorGroup)."""
    manifest = cluster.get(ref)
    if manifest is None:
        left = cluster.list(CLUSTER_ROLE, labels=roles.group_labels(ref.namespace, ref.name))
        return Outcome(tuple(Delete(Ref.of(role), uid_of(role)) for role in left), verdict="the group is gone")
    group = Group.of(manifest)
    csvs = [csv for csv in cluster.list(CLUSTER_SERVICE_VERSION, ref.namespace) if not is_copied(csv)]
    claimants = [csv for csv in csvs if members.has_claims(csv, group)]
    present = {Ref.of(role): role for role in cluster.list(CLUSTER_ROLE, labels={names.MANAGED: "true"})}
    unfit_name = targets.unfit_name(manifest)
    wanted = [] if unfit_name else [*roles.group_roles(group, group.apis.union(*map(apis_of, csvs)))]
    for csv in filter(members.has_succeeded, claimants):
        wanted += roles.api_roles(csv, _uids(csv, present, cluster))
    writes = [Apply(role) for role in wanted if not roles.is_in_place(role, present.get(Ref.of(role)))]
    for csv in claimants:
        writes += [Apply(item) for item in _rights(csv, group, cluster)]
    return Outcome(tuple(writes), verdict=unfit_name or f"{len(writes)} roles or bindings to write")


def _uids(csv: ReadOnly, present: Mapping[Ref, Manifest], cluster: Cluster) -> Mapping[Ref, str]:
    """The uids of the owners of its API roles. For a missing role the owner is read: it may have been deleted, too."""
    known, providers = roles.known_uids(csv), roles.providers_of(csv)
    if known.keys() >= set(providers) and all(
        roles.is_in_place(role, present.get(Ref.of(role))) for role in roles.api_roles(csv, known)
    ):
        return known
    found = {ref: cluster.get(ref) for ref in providers}
    return {ref: uid_of(provider) for ref, provider in found.items() if provider}


def _rights(csv: Manifest, group: Group, cluster: Cluster) -> Iterator[Manifest]:
    """The RBAC objects that the operator lacks outside its namespace."""
    outside = [target for target in group.targets or () if target != group.namespace]
    if not outside or not members.has_permissions(csv):
        return
    labels = owner_labels(csv)
    granted = [
        projection.owned(cluster.list(kind, group.namespace, labels=labels), csv) for kind in (ROLE, ROLE_BINDING)
    ]
    if group.is_global:
        yield from _lacking(projection.lifted(*granted), cluster)
        return
    for target in outside:
        if copy := cluster.get(CLUSTER_SERVICE_VERSION.ref(Ref.of(csv).name, target)):
            yield from _lacking(projection.projected(csv, copy, *granted), cluster)


def _lacking(wanted: Iterator[Manifest], cluster: Cluster) -> Iterator[Manifest]:
    for item in wanted:
        present = cluster.get(Ref.of(item))
        if not projection.is_foreign(item, present) and not roles.is_in_place(item, present):
            yield item
