"""Delete objects that are no longer needed and that the garbage collector of Kubernetes does not delete.

Reads:  InstallPlans and Subscriptions; cluster-scoped roles and their owners or providers; copies and originals;
        the images that CatalogSources refer to.
Writes: deletes surplus InstallPlans, unwanted copies, roles whose owners were deleted, or whose API nobody provides,
        and those that earlier builds wrote for what versions claimed.
"""

from __future__ import annotations

from collections.abc import Iterator

from shared import names
from shared.api.manifest import Manifest, is_deleted, uid_of
from shared.domain import catalog_source
from shared.domain.csv import copies
from shared.domain.operator_groups import garbage
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    OPERATOR_GROUP,
    SUBSCRIPTION,
)  # fmt: skip
from shared.ports import Cluster, Content, Copies
from shared.step import Delete, Outcome, Ref

OWNING = (CLUSTER_SERVICE_VERSION, OPERATOR_GROUP)


def collect_garbage(_: Ref, cluster: Cluster, made: Copies, content: Content) -> Outcome:
    """Collect garbage once in the whole cluster and in the local catalog content (key: anything)."""
    found = [item for item in (*_plans(cluster), *_roles(cluster)) if not is_deleted(item)]
    writes = (*(Delete(Ref.of(item), uid_of(item)) for item in found), *_copies(cluster, made))
    freed = content.keep_only(sorted(filter(None, map(catalog_source.reference, cluster.list(CATALOG_SOURCE)))))
    forgets = f"; forgets {freed} bytes of catalogs that no CatalogSource refers to" if freed else ""
    return Outcome(writes, verdict=f"deletes {len(writes)} objects{forgets}")


def _plans(cluster: Cluster) -> tuple[Manifest, ...]:
    return garbage.surplus_plans(cluster.list(INSTALL_PLAN), cluster.list(SUBSCRIPTION))


def _copies(cluster: Cluster, made: Copies) -> Iterator[Delete]:
    parents: dict[Ref | None, Manifest | None] = {}
    for copy in made.made_from(""):
        if copy.is_deleted:
            continue
        parent = CLUSTER_SERVICE_VERSION.ref_or_none(copy.name, copy.home)
        if parent not in parents:
            parents[parent] = cluster.get(parent) if parent else None
        if copies.dangling(copy, parents[parent]):
            yield Delete(CLUSTER_SERVICE_VERSION.ref(copy.name, copy.namespace), copy.uid)


def _roles(cluster: Cluster) -> Iterator[Manifest]:
    ours = cluster.list(CLUSTER_ROLE, labels={names.MANAGED: "true"})
    yield from garbage.unmarked(ours)
    for provider, made in garbage.by_provider(ours).items():
        yield from garbage.unprovided(made, cluster.get(provider))
    for owning in OWNING:
        labels = {names.OWNER_KIND: owning.kind}
        owned = [item for kind in (CLUSTER_ROLE_BINDING, CLUSTER_ROLE) for item in cluster.list(kind, labels=labels)]
        owners = {garbage.owner_by_label(item) for item in owned} - {None}
        living = [owner for owner in owners if owner and cluster.get(owner)]
        yield from garbage.orphans(owned, living)
