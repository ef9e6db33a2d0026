"""Narrows the OperatorGroup that an install made, when its operator cannot watch all namespaces.

Decision: make the group for all namespaces, and narrow it when the ClusterServiceVersion says that it must be. Turned
down: to read the install modes before; a catalog need not name them, and the bundle is not there yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared import names
from shared.api.manifest import annotations_of, name_of
from shared.domain.groups.install_modes import modes_of, supports
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP, SUBSCRIPTION

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient


def narrow_group(cluster: KubeClient, namespace: str, package: str, version: str) -> str:
    """Let the group select its own namespace only, if it was made for this package alone; what was done, or nothing.

    A group that a person made, or that another package lives in, too, is not ours to change.
    """
    csv = cluster.get(CLUSTER_SERVICE_VERSION.ref(version, namespace))
    groups = cluster.list(OPERATOR_GROUP, namespace)
    if csv is None or (csv.get("status") or {}).get("reason") != "UnsupportedOperatorGroup" or len(groups) != 1:
        return ""
    (group,) = groups
    is_global = not {"targetNamespaces", "selector"} & set(group.get("spec") or {})
    is_ours = is_global and annotations_of(group).get(names.MADE_FOR) == package
    is_alone = len(cluster.list(SUBSCRIPTION, namespace)) == 1
    if not is_ours or not is_alone or supports(modes_of(csv), namespace, (namespace,)):
        return ""
    cluster.merge(OPERATOR_GROUP.ref(name_of(group), namespace), {"spec": {"targetNamespaces": [namespace]}})
    return f"{version} cannot watch all namespaces: OperatorGroup {name_of(group)} selects {namespace} only"
