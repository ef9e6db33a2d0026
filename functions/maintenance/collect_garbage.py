"""Delete objects that are no longer needed and that the garbage collector of Kubernetes does not delete.

Reads:  InstallPlans and Subscriptions; cluster-scoped roles, APIServices and webhook configurations, their owners or
        providers; Operators; copies and originals; the images that CatalogSources and ClusterCatalogs refer to. Before
        something goes because of what became of its owner: names and versions of all that may be owners, as they are.
Writes: deletes surplus InstallPlans, unwanted copies, what belongs to owners that were deleted, roles whose API nobody
        provides, and those that earlier builds wrote for what versions claimed; empty Operators that we made.
        Forgets catalogs that nothing refers to, and what was read of catalogs for objects that are gone.
"""

from __future__ import annotations

from collections.abc import Sequence

from functions.maintenance._owned import deletes, lost
from shared import kinds
from shared.api.views import CatalogSource, ClusterCatalog, InstallPlan, Object, Subscription
from shared.domain.operator_groups import garbage
from shared.domain.subscription import operators
from shared.ports import Cluster, Content, Copies, Inventory, ReadSets
from shared.step import Outcome, Ref


def collect_garbage(
    _: Ref, cluster: Cluster, made: Copies, inventory: Inventory, content: Content, *, read_sets: ReadSets
) -> Outcome:
    """Collect garbage once in the whole cluster, in the local catalog content and in the queue (key: anything)."""
    subscriptions = Subscription.each(cluster.list(kinds.SUBSCRIPTION))
    empty = operators.emptied(Object.each(cluster.list(kinds.OPERATOR)))  # one that is needed after all is made again
    writes = (
        *deletes(_plans(cluster, subscriptions)),
        *lost(cluster, made, inventory),
        *deletes(empty),
    )
    used = {one.content for one in CatalogSource.each(cluster.list(kinds.CATALOG_SOURCE))}
    used |= {one.resolved for one in ClusterCatalog.each(cluster.list(kinds.CLUSTER_CATALOG))}
    freed = content.keep_only(sorted(filter(None, used)))
    forgets = f"; forgets {freed} bytes of catalogs that nothing refers to" if freed else ""
    if unread := read_sets.keep_only(_readers(subscriptions)):
        forgets += f"; forgets what was read of catalogs for {unread} objects that are gone"
    return Outcome(writes, summary=f"deletes {len(writes)} objects{forgets}")


def _readers(subscriptions: Sequence[Subscription]) -> list[Ref]:
    """The objects for which catalogs are read: the Subscriptions, and the namespaces that have any."""
    namespaces = sorted({one.namespace for one in subscriptions})
    return [*map(kinds.NAMESPACE.ref, namespaces), *map(Ref.of, subscriptions)]


def _plans(cluster: Cluster, subscriptions: Sequence[Subscription]) -> tuple[InstallPlan, ...]:
    return garbage.surplus_plans(InstallPlan.each(cluster.list(kinds.INSTALL_PLAN)), subscriptions)
