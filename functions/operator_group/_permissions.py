"""The RBAC objects that an operator lacks outside its namespace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shared.api.manifest import Manifest
from shared.api.views import Csv, InstallPlan, OperatorGroup, Role, RoleBinding
from shared.domain.csv import projection
from shared.domain.objects.ownership import owner_labels
from shared.domain.operator_groups import members
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.identity import Nobody
from shared.kinds import CLUSTER_SERVICE_VERSION, INSTALL_PLAN, ROLE, ROLE_BINDING
from shared.ports import Attempt, Cluster, Inventory, Policy
from shared.reading.identity import identity_in
from shared.step import Apply, Record, Ref, Write, acting_as

FEW = 10
"""Objects that are read one by one; more are listed, while nobody else has written objects with their labels."""


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
    yield from projection.lacking(desired, projection.finder(_present(csv, desired, cluster, inventory), cluster.get))


def grants(lacking: Sequence[Apply], group: OperatorGroup, cluster: Cluster, attempt: Attempt) -> tuple[Write, ...]:
    """The writes that give an operator what it lacks; an Event where the account of its group may not give that."""
    if not lacking:
        return ()
    actor = identity_in(group.namespace, cluster)
    if isinstance(actor, Nobody):
        return (Record(Ref.of(group), "Warning", "GrantRefused", actor.message),)
    if (refused := attempt.failure) and refused.kind == "forbidden":
        return (Record(Ref.of(group), "Warning", "GrantRefused", f"{refused.ref}: {refused.message}"),)
    return acting_as(actor.account, lacking)


def _granted(csv: Csv, cluster: Cluster, policy: Policy) -> projection.Granted:
    namespace = csv.namespace
    if not policy.lift_foreign_roles:
        return projection.planned(csv, InstallPlan.each(cluster.list(INSTALL_PLAN, namespace)))
    roles, bindings = (cluster.list(kind, namespace, labels=owner_labels(csv)) for kind in (ROLE, ROLE_BINDING))
    return projection.owned(Role.each(roles), csv), projection.owned(RoleBinding.each(bindings), csv)


def _lifted(csv: Csv, granted: projection.Granted, cluster: Cluster) -> Iterator[Manifest]:
    kinds, labels = projection.written(csv, is_lifted=True)
    find = projection.finder([one for kind in kinds for one in cluster.list(kind, labels=labels)], cluster.get)
    return projection.lacking(projection.lifted(granted, projection.taken(granted, find)), find)


def _present(csv: Csv, desired: Sequence[Manifest], cluster: Cluster, inventory: Inventory) -> list[Manifest]:
    """What one list of each kind gives; nothing where it would give more than what is wanted.

    Whoever may write Roles anywhere can give them our labels, as many and as large as he likes.
    """
    refs, found = {Ref.of(one) for one in desired}, list[Manifest]()
    kinds, labels = projection.written(csv, is_lifted=False) if len(refs) > FEW else ((), {})
    for kind in kinds:
        if refs.issuperset(ref for ref, _ in inventory.versions(kind, labels=labels)):
            found += cluster.list(kind, labels=labels)
    return found
