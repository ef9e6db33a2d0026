"""Catalogs for the resolver: those of a cluster, and indexed ones from anywhere."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared.domain.catalog.model import Package
from shared.domain.catalog.parse import SickPackage
from shared.domain.resolver.facts import Gvk
from shared.domain.resolver.model import CatalogKey, Shelf
from shared.domain.resolver.operators import Operator, of_package
from shared.domain.resolver.shelves import IndexedShelf, Remembering

if TYPE_CHECKING:
    from shared.adapters.content.snapshot import Snapshot
    from shared.adapters.kube import KubeClient


def shelves_of_cluster(cluster: KubeClient) -> dict[CatalogKey, Shelf]:
    """The last snapshot of every catalog of a cluster that was read at least once."""
    from eventing.wiring import catalogs_for
    from shared.domain.resolver.scene import catalog_of
    from shared.kinds import CATALOG_SOURCE
    from shared.ports import ImageSource

    content = catalogs_for(cluster)
    found = sorted(map(catalog_of, cluster.list(CATALOG_SOURCE)), key=lambda one: one.key)
    return {one.key: IndexedShelf(content, one.reference, ImageSource(*one.origin)) for one in found if one.reference}


def shelf_of_snapshot(snapshot: Snapshot) -> Shelf:
    """An indexed catalog; each of its packages is read once, when it is first used."""
    return Remembering(_Indexed(snapshot))


def digest_of_snapshot(snapshot: Snapshot) -> str:
    """The digest of the content of a catalog: that of its image, else one over its file names and files."""
    from shared.adapters.content.snapshot import digest_of
    from shared.adapters.content.snapshot.needs import IMAGE

    if not snapshot.header.folder:
        return snapshot.name.removeprefix(IMAGE).replace("-", ":", 1)
    listed = (f"{digest_of(snapshot.source(path))}  {path}\n" for path in sorted(snapshot.files))
    return f"sha256:{hashlib.sha256(''.join(listed).encode('utf-8', 'surrogateescape')).hexdigest()}"


@dataclass(frozen=True, slots=True)
class _Indexed:
    """The content of a snapshot as a shelf."""

    snapshot: Snapshot
    asked: dict[str, Package | None] = field(default_factory=dict)
    sick: dict[str, str] = field(default_factory=dict)

    def package(self, name: str) -> Package | None:
        """A package, or None when the catalog has no such package."""
        if name not in self.asked:
            found = self.snapshot.package(name)
            if isinstance(found, SickPackage):
                self.sick[name] = "; ".join(found.findings)
            self.asked[name] = None if isinstance(found, SickPackage) else found
        return self.asked[name]

    def operators(self, name: str, catalog: CatalogKey) -> Mapping[str, tuple[Operator, ...]]:
        """The operators of a package by channel."""
        package = self.package(name)
        return of_package(package, catalog) if package else {}

    def names(self) -> Iterable[str]:
        """The names of all packages."""
        return self.snapshot.names

    def providers(self, api: Gvk) -> Iterable[str]:
        """The names of the packages that provide an API."""
        return self.snapshot.providers_of(*api)

    def homes(self, bundle: str) -> Iterable[str]:
        """The names of the packages with a bundle of that name, among the packages that were read."""
        return sorted(name for name, package in self.asked.items() if package and bundle in package.bundles)

    def problem(self, name: str) -> str:
        """Why a package cannot be offered."""
        return self.sick.get(name, "")
