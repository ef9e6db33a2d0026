"""The `Catalogs` port: catalog images, indexed once per digest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from shared.adapters.content.address_snapshots import PREFIX, Address, snapshot_of_address
from shared.adapters.content.image_snapshots import name_of, snapshot_of_image
from shared.adapters.content.pulling import Puller
from shared.adapters.content.snapshot import BrokenSnapshot, Snapshot
from shared.adapters.content.store import Store, file_of
from shared.adapters.oci import OciError, Reference, Registry
from shared.domain.catalog.config import Blob
from shared.domain.catalog.model import Package
from shared.domain.catalog.parse import SickPackage
from shared.domain.image_source import ImageSource
from shared.ports import Pulled, Unavailable

_OPEN_CATALOGS: Final = 64
_OURS: Final = ("catalog", "file-")
"""Prefixes of the names of the snapshots of images, in each form that they ever had, and of their files."""
_UNUSED_SECONDS: Final = 3600.0
"""What was used more recently is kept: a CatalogSource may be about to refer to it."""
_T = TypeVar("_T")


class ImageCatalogs:
    """Answers from indexed catalogs; an image is pulled when its digest is not here."""

    def __init__(self, store: Store, puller: Puller) -> None:
        self._store = store
        self._puller = puller
        self._open: dict[str, Snapshot] = {}

    def pull(self, source: ImageSource) -> Pulled | Unavailable:
        """Resolve the image to a digest and index it; a digest already indexed costs one HEAD.

        `grpc://host:port` in place of an image is a server of the registry API, asked for all that it has.
        """
        if source.image.startswith(PREFIX):
            return self._pull_from_server(source.image)

        def use(registry: Registry, reference: Reference) -> Pulled:
            found = reference.at(registry.digest(reference))
            catalog = self._open.get(found.digest)
            if catalog is None:
                catalog = self._keep_open(found.digest, snapshot_of_image(registry, found, self._store))
            return Pulled(str(found), len(catalog.names), catalog.header.left_out)

        return self._puller.run(source, source.image, use)

    def package(self, reference: str, name: str, source: ImageSource) -> Package | Unavailable | None:
        """One package of an indexed catalog; a sick one is unavailable, which leaves its neighbours alone."""
        found = self._ask(reference, source, lambda catalog: catalog.package(name))
        if isinstance(found, SickPackage):
            return Unavailable("Malformed", f"package {name} of {reference}: {'; '.join(found.findings)}")
        return found

    def bundle(self, reference: str, package: str, name: str, source: ImageSource) -> Blob | Unavailable | None:
        """The document of a bundle, whole: with its CSV or what the catalog states of it; None without one."""

        def read(catalog: Snapshot) -> Blob | None:
            pages = catalog.documents(package)
            return next(map(pages.value, pages.rows("olm.bundle", name)), None)

        return self._ask(reference, source, read)

    def packages(self, reference: str, source: ImageSource) -> tuple[str, ...] | Unavailable:
        """The names of all packages, sorted."""
        return self._ask(reference, source, lambda catalog: catalog.names)

    def providers(
        self, reference: str, api: tuple[str, str, str], source: ImageSource
    ) -> tuple[str, ...] | Unavailable:
        """The packages that have a bundle which provides an API: its group, version and kind."""
        return self._ask(reference, source, lambda catalog: catalog.providers_of(*api))

    def snapshot(self, reference: str, source: ImageSource) -> Snapshot | Unavailable:
        """A whole catalog, for callers with many questions."""
        return self._ask(reference, source, lambda catalog: catalog)

    def keep_only(self, references: Sequence[str]) -> int:
        """Delete the other catalogs, except those used recently; returns the bytes freed. Implements `Content`."""
        wanted = {file_of(name_of(_digest_of(reference))) for reference in references}
        freed = self._store.forget(
            lambda name: name in wanted or not name.startswith(_OURS), unused_seconds=_UNUSED_SECONDS
        )
        if freed:
            self._open.clear()
        return freed

    def _pull_from_server(self, address: str) -> Pulled | Unavailable:
        try:
            found, catalog = snapshot_of_address(Address.parse(address), self._store)
        except OciError as error:
            return error.unavailable()
        return Pulled(str(found), len(catalog.names))

    def _ask(self, reference: str, source: ImageSource, question: Callable[[Snapshot], _T]) -> _T | Unavailable:
        """Ask a catalog by digest. One that was forgotten or damaged meanwhile is indexed again, once."""
        try:
            return self._answer(reference, source, question)
        except (FileNotFoundError, BrokenSnapshot):
            self._open.pop(_digest_of(reference), None)
            self._store.drop(name_of(_digest_of(reference)))
            return self._answer(reference, source, question)

    def _answer(self, reference: str, source: ImageSource, question: Callable[[Snapshot], _T]) -> _T | Unavailable:
        digest = _digest_of(reference)
        catalog = self._open[digest] if digest in self._open else self._opened(reference, source)
        return catalog if isinstance(catalog, Unavailable) else question(catalog)

    def _opened(self, reference: str, source: ImageSource) -> Snapshot | Unavailable:
        """The catalog from the store, or from its image or server; this reads the pull secrets of the source."""

        def use(registry: Registry, found: Reference) -> Snapshot:
            return self._keep_open(found.digest, snapshot_of_image(registry, found, self._store))

        if not reference.startswith(PREFIX):
            return self._puller.run(source, reference, use)
        try:
            address, catalog = snapshot_of_address(Address.parse(reference), self._store)
        except OciError as error:
            return error.unavailable()
        return self._keep_open(address.digest, catalog)

    def _keep_open(self, digest: str, catalog: Snapshot) -> Snapshot:
        if len(self._open) >= _OPEN_CATALOGS:
            self._open.clear()
        self._open[digest] = catalog
        return catalog


def _digest_of(reference: str) -> str:
    return reference.rpartition("@")[2]
