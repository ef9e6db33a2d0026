"""Enqueue the users of a catalog that it concerns when it was added, changed or deleted.

Reads:  all CatalogSources; the Subscriptions that may use this one, and what their last decisions read of it.
Emits:  `io.olmf.catalog.changed` per namespace whose resolution may be another now; `io.olmf.dependent.changed` per
        Subscription whose status about its catalogs changes, or may change (deprecations).
"""

from __future__ import annotations

from collections.abc import Sequence

from shared import kinds, names
from shared.api.views import CatalogSource, Subscription
from shared.domain.resolution_inputs.namespace import catalog_of
from shared.domain.subscription import health
from shared.ports import Catalogs, Cluster, Policy, ReadSets
from shared.reading.read_sets import known_reads, unaffected, unchanged
from shared.step import Emit, Outcome, Ref


def notify_catalog_users(
    ref: Ref, cluster: Cluster, catalogs: Catalogs, read_sets: ReadSets, policy: Policy
) -> Outcome:
    """Emit events for the namespaces and Subscriptions that the CatalogSource concerns."""
    is_global = ref.namespace == policy.global_namespace
    subscriptions = Subscription.each(cluster.list(kinds.SUBSCRIPTION, "" if is_global else ref.namespace))
    if not subscriptions:
        return Outcome(summary="no Subscription can use it")
    sources = CatalogSource.each(cluster.list(kinds.CATALOG_SOURCE))
    # A dependency may come from any catalog in sight, so each namespace may use it.
    namespaces = [kinds.NAMESPACE.ref(name) for name in sorted({one.namespace for one in subscriptions})]
    users = [one for one in subscriptions if _uses(one, ref)]
    same = _unaffected(namespaces, users, [one for one in sources if Ref.of(one) == ref], (catalogs, read_sets, policy))
    concerned = [one for one in namespaces if one not in same]
    tracked = [
        Ref.of(one)
        for one in subscriptions
        if (_uses(one, ref) and Ref.of(one) not in same)
        or health.would_change(one, health.visible(sources, one.namespace, policy.global_namespace))
    ]
    emits = (
        *(Emit(names.CATALOG_CHANGED, namespace) for namespace in concerned),
        *(Emit(names.DEPENDENT_CHANGED, subscription) for subscription in tracked),
    )
    left_out = len(namespaces) - len(concerned)
    others = f"; {left_out} namespaces need not" if left_out else ""
    summary = f"{len(concerned)} namespaces and {len(tracked)} Subscriptions look again{others}"
    return Outcome(emits=emits, summary=summary)


def _unaffected(
    namespaces: Sequence[Ref],
    users: Sequence[Subscription],
    sources: Sequence[CatalogSource],
    ports: tuple[Catalogs, ReadSets, Policy],
) -> set[Ref]:
    """Those whose last decisions read nothing of the catalog that is otherwise now, and statuses that it leaves as is.

    Nobody where it is gone.
    """
    catalogs, read_sets, policy = ports
    found = set[Ref]()
    for catalog in map(catalog_of, sources):
        known = known_reads([*namespaces, *map(Ref.of, users)], catalog, read_sets, policy)
        found |= unaffected(known, catalog, catalogs)
        found |= unchanged([one for one in users if Ref.of(one) in known.keys() - found], catalog, catalogs)
    return found


def _uses(subscription: Subscription, catalog: Ref) -> bool:
    return (subscription.source, subscription.source_namespace) == (catalog.name, catalog.namespace)
