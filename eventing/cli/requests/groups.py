"""Finds out whether OperatorGroups stop a package, and narrows the one that an install made for it.

Decision: an install makes the group by the install modes that the catalog states, else for all namespaces, and narrows
it when the ClusterServiceVersion says that it must be: many catalogs state none, and the bundle is not there yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventing.diagnosis.status.fixes import UNRESOLVED, are_prohibitive, neighbours
from shared import names
from shared.api.manifest import annotations_of, name_of
from shared.domain.objects.csv import GROUP_REASONS, UNSUPPORTED_GROUP, reason_of
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.install_modes import modes_of, supports
from shared.domain.operator_groups.provided_apis import CONFLICT_REASON, STATIC_REASON, Refused, apis_of, intersection
from shared.domain.operator_groups.targets import needs_namespaces, resolve
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP, SUBSCRIPTION

if TYPE_CHECKING:
    from eventing.diagnosis.status.progress import PackageStatus
    from shared.adapters.kube import KubeClient

_REFUSALS = (CONFLICT_REASON, STATIC_REASON)
"""Reasons of a version whose APIs its group must not provide."""


def are_groups_in_the_way(cluster: KubeClient, namespace: str, now: PackageStatus) -> bool:
    """Whether the OperatorGroups of the namespace, as they are now, stop a package: then only an edit helps."""
    if now.reason not in (UNRESOLVED, *GROUP_REASONS, *_REFUSALS):
        return False
    groups = cluster.list(OPERATOR_GROUP, namespace)
    if are_prohibitive(groups):
        return True
    csv = CLUSTER_SERVICE_VERSION.look_up(cluster.get, now.version, namespace)
    reason = reason_of(csv) if csv else ""
    if csv is None or reason not in (UNSUPPORTED_GROUP, *_REFUSALS):
        return False
    if reason in _REFUSALS:
        rivals = map(Group.of, cluster.list(OPERATOR_GROUP))
        return isinstance(intersection(apis_of(csv), Group.of(groups[0]), rivals), Refused)
    targets = Group.of(groups[0]).targets if needs_namespaces(groups[0]) else resolve(groups[0])
    return supports(modes_of(csv), namespace, targets or ()) is not None


def narrow_group(cluster: KubeClient, namespace: str, package: str, version: str) -> str:
    """Let the group select its own namespace only, if it was made for this package alone; what was done, or nothing.

    A group that a person made, or that another package lives in, too, is not ours to change.
    """
    csv = CLUSTER_SERVICE_VERSION.look_up(cluster.get, version, namespace)
    groups = cluster.list(OPERATOR_GROUP, namespace)
    if csv is None or reason_of(csv) != UNSUPPORTED_GROUP or len(groups) != 1:
        return ""
    (group,) = groups
    is_global = not {"targetNamespaces", "selector"} & set(group.get("spec") or {})
    is_ours = is_global and annotations_of(group).get(names.MADE_FOR) == package
    others = neighbours(csv, cluster.list(CLUSTER_SERVICE_VERSION, namespace))
    is_alone = len(cluster.list(SUBSCRIPTION, namespace)) == 1 and not others
    if not is_ours or not is_alone or supports(modes_of(csv), namespace, (namespace,)):
        return ""
    cluster.merge(OPERATOR_GROUP.ref(name_of(group), namespace), {"spec": {"targetNamespaces": [namespace]}})
    return f"{version} cannot watch all namespaces: OperatorGroup {name_of(group)} selects {namespace} only"
