"""Delete objects that are no longer needed and that the garbage collector of Kubernetes does not delete.

Reads:  InstallPlans and Subscriptions; cluster-scoped roles, APIServices and webhook configurations, their owners or
        providers; Operators; copies and originals; the images that CatalogSources and ClusterCatalogs refer to.
Writes: deletes surplus InstallPlans, unwanted copies, what belongs to owners that were deleted, roles whose API nobody
        provides, and those that earlier builds wrote for what versions claimed; empty Operators that we made.
"""

from __future__ import annotations

from collections.abc import Iterator

from shared import names
from shared.api.views import CatalogSource, ClusterCatalog, Csv, InstallPlan, Object, Role, Subscription
from shared.domain.csv import copies
from shared.domain.endpoints.sharing import is_shared
from shared.domain.operator_groups import garbage
from shared.domain.subscription import operators
from shared.kinds import (
    API_SERVICE,
    CATALOG_SOURCE,
    CLUSTER_CATALOG,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    OPERATOR,
    OPERATOR_GROUP,
    SUBSCRIPTION,
    WEBHOOK_CONFIGURATIONS,
)  # fmt: skip
from shared.ports import Cluster, Content, Copies
from shared.step import Delete, Outcome, Ref

OWNING = (CLUSTER_SERVICE_VERSION, OPERATOR_GROUP)
OWNED = (API_SERVICE, *WEBHOOK_CONFIGURATIONS, CLUSTER_ROLE_BINDING, CLUSTER_ROLE)
"""Kinds tied to an owner only by labels, which the garbage collector of Kubernetes ignores."""


def collect_garbage(_: Ref, cluster: Cluster, made: Copies, content: Content) -> Outcome:
    """Collect garbage once in the whole cluster and in the local catalog content (key: anything)."""
    empty = operators.emptied(Object.each(cluster.list(OPERATOR)))  # one that is needed after all is made again
    found = [one for one in (*_plans(cluster), *_roles(cluster), *empty) if not one.is_deleted]
    writes = (*(Delete(Ref.of(one), one.uid) for one in found), *_copies(cluster, made))
    used = {one.content for one in CatalogSource.each(cluster.list(CATALOG_SOURCE))}
    used |= {one.resolved for one in ClusterCatalog.each(cluster.list(CLUSTER_CATALOG))}
    freed = content.keep_only(sorted(filter(None, used)))
    forgets = f"; forgets {freed} bytes of catalogs that nothing refers to" if freed else ""
    return Outcome(writes, summary=f"deletes {len(writes)} objects{forgets}")


def _plans(cluster: Cluster) -> tuple[InstallPlan, ...]:
    plans, subscriptions = cluster.list(INSTALL_PLAN), cluster.list(SUBSCRIPTION)
    return garbage.surplus_plans(InstallPlan.each(plans), Subscription.each(subscriptions))


def _copies(cluster: Cluster, made: Copies) -> Iterator[Delete]:
    parents: dict[Ref | None, Csv | None] = {}
    for copy in made.made_from(""):
        if copy.is_deleted:
            continue
        parent = CLUSTER_SERVICE_VERSION.ref_or_none(copy.name, copy.origin)
        if parent not in parents:
            parents[parent] = Csv.of(cluster.get(parent)) if parent else None
        if copies.dangling(copy, parents[parent]):
            yield Delete(CLUSTER_SERVICE_VERSION.ref(copy.name, copy.namespace), copy.uid)


def _roles(cluster: Cluster) -> Iterator[Object]:
    ours = Role.each(cluster.list(CLUSTER_ROLE, labels={names.MANAGED: "true"}))
    yield from garbage.unmarked(ours)
    for provider, made in garbage.by_provider(ours).items():
        yield from garbage.unprovided(made, Csv.of(cluster.get(provider)))
    for owning in OWNING:
        labels = {names.OWNER_KIND: owning.kind}
        owned = [one for kind in OWNED for one in Object.each(cluster.list(kind, labels=labels))]
        owners = set(map(garbage.owner_by_label, owned)) - {None}
        living = [owner for owner in owners if owner and cluster.get(owner)]
        yield from (one for one in garbage.orphans(owned, living) if not is_shared(one))
