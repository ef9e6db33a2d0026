"""Copied ClusterServiceVersions, read page by page and kept as digests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shared.adapters.kube.client import KubeClient
from shared.adapters.kube.errors import ApiError
from shared.adapters.kube.paths import path_of
from shared.domain.groups.copies import Copy
from shared.kinds import CLUSTER_SERVICE_VERSION
from shared.names import COPIED_FROM

PAGE = 50
"""Copies in memory at once."""


class KubeCopies:
    """The copies in a cluster. Implements `Copies`."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client

    def made_from(self, namespace: str, name: str = "") -> tuple[Copy, ...]:
        """The copies of the originals in a namespace (of one of them; empty: in all), by namespace and name."""
        query = {"limit": str(PAGE), "labelSelector": f"{COPIED_FROM}={namespace}" if namespace else COPIED_FROM}
        if name:
            query["fieldSelector"] = f"metadata.name={name}"
        try:
            found = tuple(self._pages(query))
        except ApiError as error:
            if not error.is_expired:
                raise
            found = tuple(self._pages(query))  # why: a writer compacted the history between two pages
        return tuple(sorted(found, key=lambda copy: (copy.namespace, copy.name)))

    def _pages(self, query: Mapping[str, str]) -> Iterator[Copy]:
        path, following = path_of(CLUSTER_SERVICE_VERSION), ""
        while True:
            page = self._client.request("GET", path, query={**query, "continue": following} if following else query)
            yield from map(Copy.of, page.get("items") or ())
            following = (page.get("metadata") or {}).get("continue") or ""
            if not following:
                return
