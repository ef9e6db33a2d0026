"""Wake the users of a catalog when it was added, changed or deleted.

Reads:  all CatalogSources; the Subscriptions that may use this one.
Emits:  `io.olmf.catalog.reported` per namespace; `io.olmf.dependent.rang` per Subscription whose status
        about its catalogs changes, or may change (deprecations).
"""

from __future__ import annotations

from shared import kinds, names
from shared.api.manifest import ReadOnly, namespace_of
from shared.domain.subscription import health
from shared.ports import Cluster, Policy
from shared.step import Emit, Outcome, Ref


def report_catalog(ref: Ref, cluster: Cluster, policy: Policy) -> Outcome:
    """Emit events for the namespaces and Subscriptions that can use the CatalogSource."""
    is_global = ref.namespace == policy.global_namespace
    subscriptions = cluster.list(kinds.SUBSCRIPTION, "" if is_global else ref.namespace)
    if not subscriptions:
        return Outcome(verdict="no Subscription can use it")
    sources = cluster.list(kinds.CATALOG_SOURCE)
    namespaces = sorted({namespace_of(one) for one in subscriptions})  # a dependency may come from any catalog in sight
    concerned = [
        Ref.of(one)
        for one in subscriptions
        if _uses(one, ref)
        or health.would_change(one, health.visible(sources, namespace_of(one), policy.global_namespace))
    ]
    emits = (
        *(Emit(names.CATALOG_REPORTED, kinds.NAMESPACE.ref(namespace)) for namespace in namespaces),
        *(Emit(names.DEPENDENT_RANG, subscription) for subscription in concerned),
    )
    verdict = f"{len(namespaces)} namespaces and {len(concerned)} Subscriptions look again"
    return Outcome(emits=emits, verdict=verdict)


def _uses(subscription: ReadOnly, catalog: Ref) -> bool:
    spec = subscription.get("spec") or {}
    return (spec.get("source"), spec.get("sourceNamespace")) == (catalog.name, catalog.namespace)
