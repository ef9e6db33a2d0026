"""Narrows the OperatorGroup that an install made for a package, where its version says that it must.

Decision: an install makes the group by the install modes that the catalog states, else for all namespaces, and narrows
it when the ClusterServiceVersion says that it must be: many catalogs state none, and the bundle is not there yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventing.diagnosis.status.fixes import same_namespace_csvs
from shared import names
from shared.api.manifest import annotations_of, name_of
from shared.api.views import Csv
from shared.domain.objects.csv import UNSUPPORTED_GROUP
from shared.domain.operator_groups.install_modes import supports
from shared.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP, SUBSCRIPTION

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient


def narrow_group(cluster: KubeClient, namespace: str, package: str, version: str) -> str:
    """Let the group select its own namespace only, if it was made for this package alone; what was done, or nothing.

    A group that a person made, or that another package lives in, too, is not ours to change.
    """
    csv = CLUSTER_SERVICE_VERSION.look_up(cluster.get, version, namespace)
    groups = cluster.list(OPERATOR_GROUP, namespace)
    if csv is None or Csv(csv).reason != UNSUPPORTED_GROUP or len(groups) != 1:
        return ""
    (group,) = groups
    is_global = not {"targetNamespaces", "selector"} & set(group.get("spec") or {})
    is_ours = is_global and annotations_of(group).get(names.MADE_FOR) == package
    others = same_namespace_csvs(Csv(csv), Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, namespace)))
    is_alone = len(cluster.list(SUBSCRIPTION, namespace)) == 1 and not others
    if not is_ours or not is_alone or supports(Csv(csv).install_modes, namespace, (namespace,)):
        return ""
    cluster.merge(OPERATOR_GROUP.ref(name_of(group), namespace), {"spec": {"targetNamespaces": [namespace]}})
    return f"{version} cannot watch all namespaces: OperatorGroup {name_of(group)} selects {namespace} only"
