"""Lists the names and versions of objects, page by page, without their content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shared.adapters.kube.client import KubeClient
from shared.adapters.kube.errors import ApiError
from shared.adapters.kube.listing import can_be_set, label_selector, unexpired
from shared.adapters.kube.paths import path_of
from shared.api.manifest import name_of, namespace_of, resource_version_of
from shared.kinds import Kind, Ref

PAGE = 100
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
"""A line of each object, its name first."""


class KubeInventory:
    """The objects in a cluster. Implements `Inventory`."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client

    def versions(self, kind: Kind, *, labels: Mapping[str, str] | None = None) -> tuple[tuple[Ref, str], ...]:
        """Every object of a kind with its resourceVersion; none when the kind is not served."""
        query = {"limit": str(PAGE)}
        if labels:
            if not can_be_set(labels):
                return ()
            query["labelSelector"] = label_selector(labels)
        try:
            return unexpired(lambda: self._versions(kind, query))
        except ApiError as error:
            if error.is_not_found:
                return ()
            raise

    def _versions(self, kind: Kind, query: Mapping[str, str]) -> Iterator[tuple[Ref, str]]:
        found = (
            (kind.ref_or_none(name_of(item), namespace_of(item)), resource_version_of(item))
            for item in self._client.pages(kind, path_of(kind), query, accept=METADATA)
        )
        return ((ref, version) for ref, version in found if ref)


def named(client: KubeClient, kind: Kind, query: Mapping[str, str]) -> Iterator[Ref]:
    """All objects of a cluster-scoped kind: a table without them has a tenth of the bytes of their metadata."""
    table = client.request("GET", path_of(kind), query={**query, "includeObject": "None"}, accept=TABLE)
    client.check_age(kind, table, query.get("resourceVersion", ""))
    names = (kind.ref_or_none(row["cells"][0]) for row in table.get("rows") or ())
    return filter(None, names)
