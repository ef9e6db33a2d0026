"""The release that upstream's older engine left of an extension (v1.md §21.9)."""

from __future__ import annotations

from shared import kinds, names
from shared.api.manifest import namespace_of
from shared.api.views import ClusterExtension
from shared.domain.extension.helm_release import INDICES, MOST, Release, newest, others_of, release_of
from shared.ports import Cluster


def release_for(extension: ClusterExtension, cluster: Cluster) -> Release | None:
    """The newest that was installed, from the namespaces of upstream alone; None without one. UnusableRelease."""
    labels = {**INDICES, "name": extension.name}
    found = [
        one for place in names.V1_NAMESPACES for one in cluster.list(kinds.SECRET, place, labels=labels, most=MOST)
    ]
    index = newest(found, extension)
    if index is None:
        return None
    others = others_of(index)
    refs = [kinds.SECRET.ref_or_none(name, namespace_of(index)) for name in others]
    there = iter(cluster.get_all([ref for ref in refs if ref is not None]))
    return release_of(index, [(name, next(there) if ref else None) for name, ref in zip(others, refs, strict=True)])
