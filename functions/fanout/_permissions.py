"""What may wait for, or work with, RBAC objects that nobody owns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shared import names
from shared.api.views import InstallPlan, OperatorGroup
from shared.domain.authors.author import is_bound
from shared.domain.csv import dependents
from shared.domain.objects.csv import NO_RETRY
from shared.domain.plan.state import is_stopped
from shared.kinds import INSTALL_PLAN, OPERATOR_GROUP
from shared.ports import Cluster
from shared.reading.originals import originals
from shared.step import Emit, Ref


def of_roles(ref: Ref, cluster: Cluster) -> Iterator[Emit]:
    """What rests on the Roles, RoleBindings and ServiceAccounts of the namespace of `ref`."""
    for csv in originals({ref.namespace}, cluster):
        if dependents.depends_on_permissions(csv):
            yield Emit(names.PERMISSIONS_CHANGED, Ref.of(csv))
    yield from _scoped(OperatorGroup.each(cluster.list(OPERATOR_GROUP, ref.namespace)), cluster)


def of_cluster_roles(cluster: Cluster) -> Iterator[Emit]:
    """What waits for rights of a ServiceAccount: a role or binding of the whole cluster may give them to any."""
    groups = [group for group in OperatorGroup.each(cluster.list(OPERATOR_GROUP)) if _is_limited(group)]
    for csv in originals({group.namespace for group in groups}, cluster):
        if csv.reason == NO_RETRY:
            yield Emit(names.PERMISSIONS_CHANGED, Ref.of(csv))
    yield from _scoped(groups, cluster)


def _is_limited(group: OperatorGroup) -> bool:
    return bool(group.service_account) or is_bound([group])


def _scoped(groups: Iterable[OperatorGroup], cluster: Cluster) -> Iterator[Emit]:
    """The groups that name an account or ask for authors, and the plans that wait for either, or for their rights."""
    for group in groups:
        if _is_limited(group):
            yield Emit(names.GROUP_CHANGED, Ref.of(group))
            plans = InstallPlan.each(cluster.list(INSTALL_PLAN, group.namespace))
            waiting = filter(is_stopped, plans)
            yield from (Emit(names.DEPENDENT_CHANGED, Ref.of(plan)) for plan in waiting)
