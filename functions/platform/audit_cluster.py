"""List what is watched, and ring for every version of an object that no event has told of.

Reads:  every object of the kinds below, ClusterServiceVersions namespace by namespace: copies are many and large.
Writes: nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from shared import kinds, names
from shared.api.manifest import Manifest, version_of
from shared.ports import Cluster, Journal
from shared.step import Emit, Outcome, Ref

AUDITED = (
    kinds.NAMESPACE, kinds.CATALOG_SOURCE, kinds.OPERATOR_GROUP, kinds.SUBSCRIPTION, kinds.INSTALL_PLAN,
    kinds.OPERATOR_CONDITION, kinds.OLM_CONFIG, kinds.CUSTOM_RESOURCE_DEFINITION, kinds.JOB, kinds.DEPLOYMENT,
    kinds.SERVICE_ACCOUNT, kinds.ROLE, kinds.ROLE_BINDING, kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING,
)  # fmt: skip
"""The watched kinds besides ClusterServiceVersion."""
MANAGED = frozenset(AUDITED[-7:])
"""Kinds of which only our own objects are looked at: whoever made them has labelled them."""


def audit_cluster(_: Ref, cluster: Cluster, journal: Journal) -> Outcome:
    """Ring for what was missed (key: anything)."""
    missed = [found for objects in _listed(cluster) for found in journal.unseen(_identities(objects))]
    return Outcome(
        emits=tuple(Emit(names.DEPENDENT_RANG, found) for found in missed), verdict=f"missed {len(missed)} changes"
    )


def _listed(cluster: Cluster) -> Iterator[tuple[Manifest, ...]]:
    for kind in AUDITED:
        found = cluster.list(kind, labels={names.MANAGED: "true"} if kind in MANAGED else None)
        yield found
        if kind == kinds.NAMESPACE:
            for namespace in found:
                yield cluster.list(kinds.CLUSTER_SERVICE_VERSION, Ref.of(namespace).name)


def _identities(objects: tuple[Manifest, ...]) -> tuple[tuple[Ref, str], ...]:
    return tuple((Ref.of(manifest), version_of(manifest)) for manifest in objects)
