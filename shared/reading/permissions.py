"""Reads what an operator has outside its namespace, and says which RBAC objects it lacks there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from shared.api.manifest import Manifest
from shared.api.views import Csv, InstallPlan, Object, Role, RoleBinding
from shared.domain.csv import projection
from shared.domain.objects.ownership import owner_labels
from shared.domain.operator_groups import members
from shared.domain.operator_groups.group import Group
from shared.kinds import CLUSTER_ROLE, CLUSTER_SERVICE_VERSION, INSTALL_PLAN, ROLE, ROLE_BINDING, Ref
from shared.ports import Cluster, Inventory, Policy

_FEW: Final = 10
"""Objects that are read one by one; more are listed, while nobody else has written objects with their labels."""


class _Known:
    """What a list gave, else what one asks for: somebody else's is in no list of ours."""

    def __init__(self, cluster: Cluster, listed: Sequence[Manifest]) -> None:
        self._cluster = cluster
        self._listed = {Ref.of(one): one for one in listed}

    def get(self, ref: Ref) -> Object | None:
        """The object of that name."""
        return Object.of(self._listed.get(ref) or self._cluster.get(ref))


def missing_permissions(
    csv: Csv, group: Group, cluster: Cluster, inventory: Inventory, *, policy: Policy
) -> Iterator[Manifest]:
    """The roles and bindings of one version that are absent or differ, in the namespaces of its group."""
    outside = [target for target in group.targets or () if target != group.namespace]
    if not outside or not members.has_permissions(csv):
        return
    granted = _granted(csv, cluster, policy)
    if group.is_global:
        yield from _lifted(csv, granted, cluster)
        return
    copies = (Csv.of(CLUSTER_SERVICE_VERSION.look_up(cluster.get, csv.name, target)) for target in outside)
    desired = [one for copy in copies if copy for one in projection.projected(csv, copy, granted)]
    found = _Known(cluster, _present(csv, desired, cluster, inventory))
    yield from (one for one in desired if projection.is_lacking(one, found.get(Ref.of(one))))


def _granted(csv: Csv, cluster: Cluster, policy: Policy) -> projection.Granted:
    namespace = csv.namespace
    if not policy.lift_foreign_roles:
        return projection.planned(csv, InstallPlan.each(cluster.list(INSTALL_PLAN, namespace)))
    roles, bindings = (cluster.list(kind, namespace, labels=owner_labels(csv)) for kind in (ROLE, ROLE_BINDING))
    return projection.owned(Role.each(roles), csv), projection.owned(RoleBinding.each(bindings), csv)


def _lifted(csv: Csv, granted: projection.Granted, cluster: Cluster) -> Iterator[Manifest]:
    kinds, labels = projection.written(csv, is_lifted=True)
    found = _Known(cluster, [one for kind in kinds for one in cluster.list(kind, labels=labels)])
    holders = ((role, CLUSTER_ROLE.look_up(found.get, role.name)) for role in granted[0])
    taken = {role.name for role, holder in holders if projection.is_foreign(role, holder)}
    return (one for one in projection.lifted(granted, taken) if projection.is_lacking(one, found.get(Ref.of(one))))


def _present(csv: Csv, desired: Sequence[Manifest], cluster: Cluster, inventory: Inventory) -> list[Manifest]:
    """What one list of each kind gives; nothing where it would give more than what is wanted.

    Whoever may write Roles anywhere can give them our labels, as many and as large as he likes.
    """
    refs, found = {Ref.of(one) for one in desired}, list[Manifest]()
    kinds, labels = projection.written(csv, is_lifted=False) if len(refs) > _FEW else ((), {})
    for kind in kinds:
        if refs.issuperset(ref for ref, _ in inventory.versions(kind, labels=labels)):
            found += cluster.list(kind, labels=labels)
    return found
