"""Reads a namespace: its objects and the catalogs that it sees become the resolver's inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from shared import kinds
from shared.api.manifest import Manifest
from shared.api.views import CatalogSource, Csv, OperatorGroup, Subscription
from shared.domain.resolution_inputs.namespace import catalog_of, completed, excludes_global, subscriber_of
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Inputs, Subscriber
from shared.domain.subscription import health, state
from shared.ports import Cluster, IndexedCatalogs, Listing, Policy
from shared.reading.indexed_catalog import IndexedCatalog
from shared.reading.read_sets import read_set_of


@dataclass(frozen=True, slots=True)
class NamespaceSnapshot:
    """The objects that were read, and the resolver's inputs made of them."""

    subscriptions: tuple[Subscription, ...]
    groups: tuple[OperatorGroup, ...]
    inputs: Inputs
    readers: Mapping[CatalogKey, IndexedCatalog] = field(default_factory=dict)
    """The content of the catalogs that can be read."""
    sources: tuple[CatalogSource, ...] = ()
    """All that concern its Subscriptions; none where the global ones were not read."""

    @property
    def is_partial(self) -> bool:
        """After resolving: whether a part of a catalog could not be read, so that it is worth trying again."""
        return any(reader.problems for reader in self.readers.values())

    def read_set(self, policy: Policy) -> Manifest | None:
        """After resolving: what was read of catalogs; None when there are none, or when that cannot be compared."""
        return read_set_of(self.inputs.catalogs.values(), self.readers, policy)


def _never(_: Subscription) -> bool:
    return False


def read_namespace(
    cluster: Cluster,
    catalogs: IndexedCatalogs,
    namespace: str,
    policy: Policy,
    *,
    is_resting: Callable[[Subscription], bool] = _never,
    is_whole: bool = False,
) -> NamespaceSnapshot:
    """Read a namespace with as few requests as possible; the inputs are empty when no Subscription wants a decision.

    `is_whole`: they are not, because somebody asks who waits.
    """
    subscriptions = Subscription.each(cluster.list(kinds.SUBSCRIPTION, namespace))
    if not is_whole and all(state.has_plan_under_way(one) or is_resting(one) for one in subscriptions):
        return NamespaceSnapshot(subscriptions, (), Inputs(namespace))
    own = (kinds.CLUSTER_SERVICE_VERSION, kinds.OPERATOR_GROUP, kinds.CATALOG_SOURCE)
    csvs, listed_groups, own_sources = cluster.list_all([Listing(kind, namespace) for kind in own])
    found_csvs, groups = Csv.each(csvs), OperatorGroup.each(listed_groups)
    originals = {csv.name for csv in found_csvs if not csv.is_copy}
    copies = {csv.name: csv.origin for csv in found_csvs if csv.is_copy}
    places = {namespace: own_sources}
    if not excludes_global(groups) and policy.global_namespace != namespace:
        places[policy.global_namespace] = cluster.list(kinds.CATALOG_SOURCE, policy.global_namespace)
    listed = [one for place in sorted(places) for one in places[place]]
    sources = CatalogSource.each(listed)
    found = list(map(catalog_of, sources))
    readers = {one.key: IndexedCatalog(catalogs, one.reference, one.source) for one in found if one.reference}
    inputs = Inputs(
        namespace,
        tuple(_subscriber(one, originals) for one in subscriptions),
        catalogs={catalog.key: catalog for catalog in found},
        readers=readers,
        is_whole=policy.plan_scope == "namespace",
        copies=copies,
    )
    inputs = completed(inputs, subscriptions, found_csvs, groups, policy=policy.catalog_policy)
    visible = health.visible(sources, namespace, policy.global_namespace) if policy.global_namespace in places else ()
    return NamespaceSnapshot(subscriptions, groups, inputs, readers, visible)


def _subscriber(subscription: Subscription, csvs: set[str]) -> Subscriber:
    waits, failed = state.waits(subscription, csvs), state.given_up(subscription)
    planned = state.SubscriptionState.read(subscription).current_csv if state.has_plan_under_way(subscription) else ""
    return replace(subscriber_of(subscription), waits=waits, planned_csv=planned, failed_csv=failed)
