"""The namespaces that wait for a bundle of the catalogs in one namespace."""

from __future__ import annotations

from shared import kinds
from shared.api.views import Subscription
from shared.domain.unpack.report import has_unpack_condition
from shared.ports import Cluster


def waiting_namespaces(cluster: Cluster, catalogs: str, global_namespace: str) -> list[str]:
    """The namespaces with a Subscription that waits for a bundle of a catalog in `catalogs`, sorted."""
    namespace = "" if catalogs == global_namespace else catalogs
    return sorted(
        {
            one.namespace
            for one in Subscription.each(cluster.list(kinds.SUBSCRIPTION, namespace))
            if has_unpack_condition(one) and one.source_namespace == catalogs
        }
    )
