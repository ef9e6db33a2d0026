"""Enqueue the users of a catalog when it was added, changed or deleted.

Reads:  all CatalogSources; the Subscriptions that may use this one.
Emits:  `io.olmf.catalog.changed` per namespace; `io.olmf.dependent.changed` per Subscription whose status
        about its catalogs changes, or may change (deprecations).
"""

from __future__ import annotations

from shared import kinds, names
from shared.api.views import CatalogSource, Subscription
from shared.domain.subscription import health
from shared.ports import Cluster, Policy
from shared.step import Emit, Outcome, Ref


def notify_catalog_users(ref: Ref, cluster: Cluster, policy: Policy) -> Outcome:
    """Emit events for the namespaces and Subscriptions that can use the CatalogSource."""
    is_global = ref.namespace == policy.global_namespace
    subscriptions = Subscription.each(cluster.list(kinds.SUBSCRIPTION, "" if is_global else ref.namespace))
    if not subscriptions:
        return Outcome(summary="no Subscription can use it")
    sources = CatalogSource.each(cluster.list(kinds.CATALOG_SOURCE))
    namespaces = sorted({one.namespace for one in subscriptions})  # a dependency may come from any catalog in sight
    concerned = [
        Ref.of(one)
        for one in subscriptions
        if _uses(one, ref) or health.would_change(one, health.visible(sources, one.namespace, policy.global_namespace))
    ]
    emits = (
        *(Emit(names.CATALOG_CHANGED, kinds.NAMESPACE.ref(namespace)) for namespace in namespaces),
        *(Emit(names.DEPENDENT_CHANGED, subscription) for subscription in concerned),
    )
    summary = f"{len(namespaces)} namespaces and {len(concerned)} Subscriptions look again"
    return Outcome(emits=emits, summary=summary)


def _uses(subscription: Subscription, catalog: Ref) -> bool:
    return (subscription.source, subscription.source_namespace) == (catalog.name, catalog.namespace)
