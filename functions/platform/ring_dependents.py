"""Find the objects that a change affects when the event itself does not name them, and wake their steps.

Reads:  OperatorGroups, the ClusterServiceVersions in their namespaces, the changed object where its owners matter.
Writes: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from shared import names
from shared.api.manifest import Manifest
from shared.domain.csv import dependents
from shared.domain.objects.csv import is_copied
from shared.domain.operator_groups.group import Group, homes_of
from shared.kinds import CLUSTER_SERVICE_VERSION, NAMESPACE, OPERATOR_GROUP, ROLE
from shared.ports import Cluster
from shared.step import Emit, Outcome, Ref


def ring_dependents(ref: Ref, cluster: Cluster) -> Outcome:
    """Emit an event for each object that depends on the object at `ref`."""
    emits = tuple(dict.fromkeys(_RINGS.get(ref.kind, _owners)(ref, cluster)))
    return Outcome(emits=emits, verdict=f"concerns {len(emits)} objects")


def _namespace(ref: Ref, cluster: Cluster) -> Iterator[Emit]:
    """Groups that select the namespace now or did, and originals that have no copy in it yet."""
    namespace = cluster.get(ref)
    groups = cluster.list(OPERATOR_GROUP)
    for group in groups:
        if dependents.must_select_again(group, namespace, ref.name):
            yield Emit(names.GROUP_CHANGED, Ref.of(group))
    homes = homes_of(map(Group.of, groups), ref.name)
    if namespace is None or not homes:
        return
    present = {Ref.of(csv).name for csv in cluster.list(CLUSTER_SERVICE_VERSION, ref.name)}
    for csv in _originals(homes, cluster):
        if Ref.of(csv).name not in present:
            yield Emit(names.COPY_DUE, Ref.of(csv))


def _rights(ref: Ref, cluster: Cluster) -> Iterator[Emit]:
    """Versions of the namespace that may wait for, or work with, RBAC objects without an owner."""
    if ref.name != names.ANY:
        yield from _owners(ref, cluster)
        return
    for csv in _originals({ref.namespace}, cluster):
        if dependents.rests_on_rights(csv):
            yield Emit(names.RIGHTS_CHANGED, Ref.of(csv))


def _owners(ref: Ref, cluster: Cluster) -> Iterator[Emit]:
    found = cluster.get(ref)
    for owner in dependents.owners_of(found) if found else ():
        yield Emit(names.DEPENDENT_RANG, owner)


def _originals(namespaces: Iterable[str], cluster: Cluster) -> Iterator[Manifest]:
    for namespace in sorted(namespaces):
        yield from (csv for csv in cluster.list(CLUSTER_SERVICE_VERSION, namespace) if not is_copied(csv))


_RINGS: dict[str, Callable[[Ref, Cluster], Iterator[Emit]]] = {
    NAMESPACE.kind: _namespace,
    ROLE.kind: _rights,
}
