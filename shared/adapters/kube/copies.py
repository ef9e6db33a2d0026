"""Reads copied ClusterServiceVersions page by page, and reduces each to a summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shared.adapters.kube.client import JSON, KubeClient
from shared.adapters.kube.inventory import METADATA
from shared.adapters.kube.listing import label_selector, unexpired
from shared.adapters.kube.paths import path_of
from shared.api.manifest import Manifest, namespace_of
from shared.api.views import Csv
from shared.domain.csv.copies import Copy
from shared.kinds import CLUSTER_SERVICE_VERSION
from shared.names import COPIED_FROM
from shared.refs import check_namespace

PAGE = 50
"""Maximum number of whole copies in memory."""


class KubeCopies:
    """The copies in a cluster. Implements `Copies`."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client

    def made_from(self, namespace: str, name: str = "") -> tuple[Copy, ...]:
        """The copies of the originals in a namespace (empty: in all), sorted; with `name`, of that original only."""
        query = {"limit": str(PAGE), "labelSelector": COPIED_FROM}
        if namespace:
            query["labelSelector"] = label_selector({COPIED_FROM: namespace})
        if name:
            query["fieldSelector"] = _named(name, namespace)
        found = unexpired(lambda: map(Copy.of, map(Csv, self._listed(query))))
        return tuple(sorted(found, key=lambda copy: (copy.namespace, copy.name)))

    def others(self, namespace: str, name: str) -> frozenset[str]:
        """Namespaces with a ClusterServiceVersion of that name that is not a copy of the one in `namespace`."""
        check_namespace(namespace)
        query = {"labelSelector": f"{COPIED_FROM}!={namespace}", "fieldSelector": _named(name, namespace)}
        found = unexpired(lambda: self._listed(query, accept=METADATA))
        return frozenset(map(namespace_of, found)) - {namespace}

    def _listed(self, query: Mapping[str, str], *, accept: str = JSON) -> Iterator[Manifest]:
        kind = CLUSTER_SERVICE_VERSION
        return self._client.pages(kind, path_of(kind), query, accept=accept)


def _named(name: str, namespace: str) -> str:
    """The field selector for a name. InvalidName for a text that would select something else."""
    return f"metadata.name={CLUSTER_SERVICE_VERSION.ref(name, namespace).name}"
