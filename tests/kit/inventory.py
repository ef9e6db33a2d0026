"""The names and versions of the objects of a `FakeCluster`."""

from __future__ import annotations

from collections.abc import Mapping

from shared.api.manifest import resource_version_of
from shared.kinds import Kind, Ref
from tests.kit.cluster import FakeCluster


class FakeInventory:
    """What a `FakeCluster` holds; implements `Inventory`."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def versions(self, kind: Kind, *, labels: Mapping[str, str] | None = None) -> tuple[tuple[Ref, str], ...]:
        found = FakeCluster.list(self._cluster, kind, labels=labels)
        return tuple((Ref.of(manifest), resource_version_of(manifest)) for manifest in found)
