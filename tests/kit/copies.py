"""The copies among the objects of a `FakeCluster`."""

from __future__ import annotations

from shared.api.manifest import labels_of, name_of, namespace_of
from shared.api.views import Csv
from shared.domain.csv.copies import Copy
from shared.kinds import CLUSTER_SERVICE_VERSION
from shared.names import COPIED_FROM
from tests.kit.cluster import FakeCluster


class FakeCopies:
    """Implements `Copies`."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def made_from(self, namespace: str, name: str = "") -> tuple[Copy, ...]:
        copies = self._cluster.list(CLUSTER_SERVICE_VERSION, labels={COPIED_FROM: namespace} if namespace else None)
        return tuple(
            Copy.of(Csv(copy)) for copy in copies if name in ("", name_of(copy)) and COPIED_FROM in labels_of(copy)
        )

    def others(self, namespace: str, name: str) -> frozenset[str]:
        named = (csv for csv in self._cluster.list(CLUSTER_SERVICE_VERSION) if name_of(csv) == name)
        strange = (csv for csv in named if labels_of(csv).get(COPIED_FROM) != namespace)
        return frozenset(map(namespace_of, strange)) - {namespace}
