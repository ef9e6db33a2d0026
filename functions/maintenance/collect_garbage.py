"""Delete objects that are no longer needed and that the garbage collector of Kubernetes does not delete.

Reads:  InstallPlans and Subscriptions; cluster-scoped roles, APIServices and webhook configurations, their owners or
        providers; Operators; copies and originals; the images that CatalogSources and ClusterCatalogs refer to.
Writes: deletes surplus InstallPlans, unwanted copies, what belongs to owners that were deleted, roles whose API nobody
        provides, and those that earlier builds wrote for what versions claimed; empty Operators that we made.
        Forgets catalogs that nothing refers to, and what was read of catalogs for objects that are gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shared import kinds, names
from shared.api.views import CatalogSource, ClusterCatalog, Csv, InstallPlan, Object, Role, Subscription
from shared.domain.csv import copies
from shared.domain.endpoints.sharing import is_shared
from shared.domain.operator_groups import garbage
from shared.domain.subscription import operators
from shared.ports import Cluster, Content, Copies, ReadSets
from shared.step import Delete, Outcome, Ref

OWNING = (kinds.CLUSTER_SERVICE_VERSION, kinds.OPERATOR_GROUP)
OWNED = (kinds.API_SERVICE, *kinds.WEBHOOK_CONFIGURATIONS, kinds.CLUSTER_ROLE_BINDING, kinds.CLUSTER_ROLE)
"""Kinds tied to an owner only by labels, which the garbage collector of Kubernetes ignores."""


def collect_garbage(_: Ref, cluster: Cluster, made: Copies, content: Content, read_sets: ReadSets) -> Outcome:
    """Collect garbage once in the whole cluster, in the local catalog content and in the queue (key: anything)."""
    subscriptions = Subscription.each(cluster.list(kinds.SUBSCRIPTION))
    empty = operators.emptied(Object.each(cluster.list(kinds.OPERATOR)))  # one that is needed after all is made again
    found = [one for one in (*_plans(cluster, subscriptions), *_roles(cluster), *empty) if not one.is_deleted]
    writes = (*(Delete(Ref.of(one), one.uid) for one in found), *_copies(cluster, made))
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


def _copies(cluster: Cluster, made: Copies) -> Iterator[Delete]:
    parents: dict[Ref | None, Csv | None] = {}
    for copy in made.made_from(""):
        if copy.is_deleted:
            continue
        parent = kinds.CLUSTER_SERVICE_VERSION.ref_or_none(copy.name, copy.origin)
        if parent not in parents:
            parents[parent] = Csv.of(cluster.get(parent)) if parent else None
        if copies.dangling(copy, parents[parent]):
            yield Delete(kinds.CLUSTER_SERVICE_VERSION.ref(copy.name, copy.namespace), copy.uid)


def _roles(cluster: Cluster) -> Iterator[Object]:
    ours = Role.each(cluster.list(kinds.CLUSTER_ROLE, labels={names.MANAGED: "true"}))
    yield from garbage.unmarked(ours)
    for provider, made in garbage.by_provider(ours).items():
        yield from garbage.unprovided(made, Csv.of(cluster.get(provider)))
    for owning in OWNING:
        labels = {names.OWNER_KIND: owning.kind}
        owned = [one for kind in OWNED for one in Object.each(cluster.list(kind, labels=labels))]
        owners = set(map(garbage.owner_by_label, owned)) - {None}
        living = [owner for owner in owners if owner and cluster.get(owner)]
        yield from (one for one in garbage.orphans(owned, living) if not is_shared(one))
