"""Catalogs for the resolver: those of a cluster, and indexed ones from anywhere."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eventing.local.state import StateDirectory
from shared.adapters.content.snapshot import digest_of
from shared.adapters.content.snapshot.needs import IMAGE
from shared.adapters.content.store import Store
from shared.adapters.oci.trust import Trust
from shared.api.manifest import ReadOnly
from shared.api.views import CatalogSource
from shared.domain.catalog.model import Package
from shared.domain.catalog.parse import SickPackage
from shared.domain.image_source import ImageSource
from shared.domain.resolution_inputs.namespace import catalog_of
from shared.domain.resolver.catalog_readers import MemoizedCatalog
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import CatalogReader
from shared.ports import Unavailable
from shared.reading.indexed_catalog import IndexedCatalog

if TYPE_CHECKING:
    from shared.adapters.content.catalogs import ImageCatalogs
    from shared.adapters.content.snapshot import Snapshot
    from shared.adapters.kube import KubeClient


def readers_of(cluster: KubeClient, sources: Iterable[ReadOnly]) -> dict[CatalogKey, CatalogReader]:
    """The last snapshot of each of these catalogs that was read at least once, the highest priority first."""
    content = catalogs_for(cluster)
    found = sorted(map(catalog_of, CatalogSource.each(sources)), key=lambda one: (-one.priority, one.key))
    return {one.key: IndexedCatalog(content, one.reference, one.source) for one in found if one.reference}


def unread_catalogs(sources: Iterable[ReadOnly]) -> dict[CatalogKey, str]:
    """Each of these catalogs that was never read, and what it says of the reason."""
    found = sorted(map(catalog_of, CatalogSource.each(sources)), key=lambda one: one.key)
    return {one.key: one.problem for one in found if not one.reference}


def reader_of_snapshot(snapshot: Snapshot) -> CatalogReader:
    """An indexed catalog; each of its packages is read once, when it is first used."""
    return MemoizedCatalog(IndexedCatalog(_Snapshot(snapshot), snapshot.name, ImageSource(snapshot.name, "")))


def digest_of_snapshot(snapshot: Snapshot) -> str:
    """The digest of the content of a catalog: that of its image, else one over its file names and files."""
    if not snapshot.header.folder:
        return snapshot.name.removeprefix(IMAGE).replace("-", ":", 1)
    listed = (f"{digest_of(snapshot.source(path))}  {path}\n" for path in sorted(snapshot.files))
    return f"sha256:{hashlib.sha256(''.join(listed).encode('utf-8', 'surrogateescape')).hexdigest()}"


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """A snapshot that is asked as the content of a catalog; it needs neither reference nor source."""

    snapshot: Snapshot

    def package(self, _: str, name: str, __: object) -> Package | Unavailable | None:
        """One package."""
        found = self.snapshot.package(name)
        return Unavailable("Malformed", "; ".join(found.findings)) if isinstance(found, SickPackage) else found

    def packages(self, _: str, __: object) -> tuple[str, ...]:
        """The names of all packages."""
        return tuple(self.snapshot.names)

    def providers(self, _: str, api: tuple[str, str, str], __: object) -> tuple[str, ...]:
        """The names of the packages that provide an API."""
        return tuple(self.snapshot.providers_of(*api))


def catalogs_for(cluster: KubeClient) -> ImageCatalogs:
    """The catalogs of a cluster, for a verb of the command line."""
    from eventing.wiring.content import machine_mirrors, secret_reader
    from shared.adapters.content.catalogs import ImageCatalogs
    from shared.adapters.content.pulling import Puller
    from shared.adapters.kube.mirrors import KubeMirrors
    from shared.adapters.oci.transport import Transport

    addresses = StateDirectory.default().read()
    store = Store(Path(addresses.state) / "content") if addresses else Store.of_user(os.environ)
    transport = Transport(trust=Trust.of(os.environ))
    pulls = Puller(secret_reader(cluster), transport, KubeMirrors(cluster, machine_mirrors))
    return ImageCatalogs(store, pulls, get=cluster.get)
