"""Find the objects that a change affects when the event itself does not name them, and enqueue their steps.

Reads:  OperatorGroups, the ClusterServiceVersions and InstallPlans in their namespaces, the changed object where its
        owners matter.
Writes: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from functions.fanout._permissions import of_cluster_roles, of_roles
from shared import names
from shared.api.views import Csv, Namespace, Object, OperatorGroup
from shared.domain.csv import dependents
from shared.domain.operator_groups.group import Group, operator_namespaces_of
from shared.kinds import CLUSTER_ROLE, CLUSTER_SERVICE_VERSION, NAMESPACE, OPERATOR_GROUP, ROLE
from shared.ports import Cluster
from shared.reading.originals import originals
from shared.step import Emit, Outcome, Ref


def notify_dependents(ref: Ref, cluster: Cluster) -> Outcome:
    """Emit an event for each object that depends on the object at `ref`."""
    emits = tuple(dict.fromkeys(_LOOKUPS.get(ref.kind, _owners)(ref, cluster)))
    return Outcome(emits=emits, summary=f"concerns {len(emits)} objects")


def _namespace(ref: Ref, cluster: Cluster) -> Iterator[Emit]:
    """Groups that select the namespace now or did, and originals that have no copy in it yet."""
    namespace = Namespace.of(cluster.get(ref))
    groups = OperatorGroup.each(cluster.list(OPERATOR_GROUP))
    for group in groups:
        if dependents.must_select_again(group, namespace, ref.name):
            yield Emit(names.GROUP_CHANGED, Ref.of(group))
    holders = operator_namespaces_of(map(Group.of, groups), ref.name)
    if namespace is None or not holders:
        return
    present = {csv.name for csv in Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, ref.name))}
    for csv in originals(holders, cluster):
        if csv.name not in present:
            yield Emit(names.COPY_DUE, Ref.of(csv))


def _role(ref: Ref, cluster: Cluster) -> Iterator[Emit]:
    """What rests on the RBAC objects of a namespace, or of the cluster, that nobody owns; else the owners."""
    if ref.name != names.ANY:
        return _owners(ref, cluster)
    return of_roles(ref, cluster) if ref.namespace else of_cluster_roles(cluster)


def _owners(ref: Ref, cluster: Cluster) -> Iterator[Emit]:
    found = Object.of(cluster.get(ref))
    for owner in dependents.owners_of(found) if found else ():
        yield Emit(names.DEPENDENT_CHANGED, owner)


_LOOKUPS: dict[str, Callable[[Ref, Cluster], Iterator[Emit]]] = {
    NAMESPACE.kind: _namespace,
    ROLE.kind: _role,
    CLUSTER_ROLE.kind: _role,
}
