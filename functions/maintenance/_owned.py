"""What is deleted because of what became of its owner, where the owner still is as it was read.

A worker remembers owners for seconds, and lists what they own anew: so one that was just made may be absent to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from shared import kinds, names
from shared.api.views import Csv, Object, Role
from shared.domain.csv import copies
from shared.domain.endpoints.sharing import is_shared
from shared.domain.operator_groups import garbage
from shared.ports import Cluster, Copies, Inventory
from shared.step import Delete, Ref

OWNING = (kinds.CLUSTER_SERVICE_VERSION, kinds.OPERATOR_GROUP)
OWNED = (kinds.API_SERVICE, *kinds.WEBHOOK_CONFIGURATIONS, kinds.CLUSTER_ROLE_BINDING, kinds.CLUSTER_ROLE)
"""Kinds tied to an owner only by labels, which the garbage collector of Kubernetes ignores."""


@dataclass(frozen=True, slots=True)
class _Owned:
    delete: Delete
    owner: Ref | None
    """None: the object itself says that it has to go."""
    found: Object | None = None
    """The owner as it was read."""

    def is_lost(self, present: dict[Ref, str]) -> bool:
        """Whether the owner has the version that was read, or is no owner now as it was none then."""
        read = self.found and names.COPIED_FROM not in self.found.labels and self.found.resource_version
        return self.owner is None or present.get(self.owner) == (read or None)


def deletes(objects: Iterable[Object]) -> Iterator[Delete]:
    """Deletions of the objects that are not being deleted."""
    return (Delete(Ref.of(one), one.uid) for one in objects if not one.is_deleted)


def lost(cluster: Cluster, made: Copies, inventory: Inventory) -> Iterator[Delete]:
    """Deletions of copies and cluster-scoped objects; whose owner has changed since is left to the next audit."""
    found = (*_roles(cluster), *_copies(cluster, made))
    present = _owners(inventory) if any(one.owner for one in found) else {}
    return (one.delete for one in found if one.is_lost(present))


def _owners(inventory: Inventory) -> dict[Ref, str]:
    originals = inventory.versions(kinds.CLUSTER_SERVICE_VERSION, labels={names.COPIED_FROM: names.NONE})
    return dict((*inventory.versions(kinds.OPERATOR_GROUP), *originals))


def _copies(cluster: Cluster, made: Copies) -> Iterator[_Owned]:
    parents: dict[Ref | None, Csv | None] = {}
    for copy in made.made_from(""):
        if copy.is_deleted:
            continue
        parent = kinds.CLUSTER_SERVICE_VERSION.ref_or_none(copy.name, copy.origin)
        if parent not in parents:
            parents[parent] = Csv.of(cluster.get(parent)) if parent else None
        if copies.dangling(copy, parents[parent]):
            delete = Delete(kinds.CLUSTER_SERVICE_VERSION.ref(copy.name, copy.namespace), copy.uid)
            yield _Owned(delete, parent, parents[parent])


def _roles(cluster: Cluster) -> Iterator[_Owned]:
    ours = Role.each(cluster.list(kinds.CLUSTER_ROLE, labels={names.MANAGED: "true"}))
    yield from (_Owned(delete, None) for delete in deletes(garbage.unmarked(ours)))
    for provider, made in garbage.by_provider(ours).items():
        version = Csv.of(cluster.get(provider))
        yield from (_Owned(one, provider, version) for one in deletes(garbage.unprovided(made, version)))
    for owning in OWNING:
        labels = {names.OWNER_KIND: owning.kind}
        owned = [one for kind in OWNED for one in Object.each(cluster.list(kind, labels=labels))]
        living = [owner for owner in set(map(garbage.owner_by_label, owned)) if owner and cluster.get(owner)]
        orphans = [one for one in garbage.orphans(owned, living) if not is_shared(one) and not one.is_deleted]
        yield from (_Owned(Delete(Ref.of(one), one.uid), garbage.owner_by_label(one)) for one in orphans)
