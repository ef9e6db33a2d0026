"""The `Catalogs` port: catalog images, indexed once per digest."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, TypeVar

from shared.adapters.content.address_snapshots import Address, snapshot_of_address
from shared.adapters.content.config_map_snapshots import ConfigMapContent, Get, snapshot_of_config_map
from shared.adapters.content.grants import FRESH_SECONDS, Grants
from shared.adapters.content.image_snapshots import name_of, snapshot_of_image
from shared.adapters.content.indexing import Indexer, unobserved
from shared.adapters.content.pulling import Puller
from shared.adapters.content.snapshot import BrokenSnapshot, Snapshot
from shared.adapters.content.snapshot.needs import needed_by
from shared.adapters.content.store import Store, file_of
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.domain.catalog.config import Blob
from shared.domain.catalog.model import Package
from shared.domain.catalog.parse import SickPackage
from shared.domain.catalog_source import IN_CONFIG_MAP, SERVED
from shared.domain.image_source import ImageSource
from shared.ports import Pulled, Unavailable

_NO_IMAGES: Final = (SERVED, IN_CONFIG_MAP)
_OPEN_CATALOGS: Final = 64
_ASKERS: Final = 10_000
_OURS: Final = ("catalog", "file-")
"""Prefixes of the names of the snapshots of images, in each form that they ever had, and of their files."""
_UNUSED_SECONDS: Final = 3600.0
"""What was used more recently is kept: a CatalogSource may be about to refer to it."""
_T = TypeVar("_T")
_Asker: TypeAlias = tuple[str, str, tuple[str, ...]]
"""A catalog by digest, and whose pull secrets open it."""


class ImageCatalogs:
    """Answers from indexed catalogs; an image is pulled when its digest is not here."""

    def __init__(
        self, store: Store, puller: Puller, *, get: Get = lambda _: None, clock: Callable[[], float] = time.time,
        indexer: Indexer = unobserved,
    ) -> None:  # fmt: skip
        """`get` reads ConfigMaps from the cluster; without it there are none.

        `indexer` makes of an image what else is wanted, while it is indexed.
        """
        self._store = store
        self._puller = puller
        self._get = get
        self._indexer = indexer
        self._grants = Grants(store.folder, clock=clock)
        self._clock = clock
        self._open: dict[str, Snapshot] = {}
        self._served: dict[_Asker, float] = {}
        """Until when each asker may be served without asking its registry."""

    def pull(self, source: ImageSource) -> Pulled | Unavailable:
        """Resolve the image to a digest and index it; a digest already indexed costs one HEAD.

        `grpc://host:port` in place of an image is a server of the registry API, asked for all that it has;
        `configmap://name` is a ConfigMap in the namespace of the source.
        """
        if source.image.startswith(_NO_IMAGES):
            return self._pull_from_server(source)

        def use(registry: Registry, reference: Reference) -> Pulled:
            found = reference.at(registry.digest(reference))
            catalog = self._served_by(registry, found, source)
            return Pulled(str(found), len(catalog.names), catalog.header.left_out)

        return self._puller.run(source, source.image, use)

    def package(self, reference: str, name: str, source: ImageSource) -> Package | Unavailable | None:
        """One package of an indexed catalog; a sick one is unavailable, which leaves its neighbours alone."""
        found = self._read(reference, source, lambda catalog: catalog.package(name))
        if isinstance(found, SickPackage):
            return Unavailable("Malformed", f"package {name} of {reference}: {'; '.join(found.findings)}")
        return found

    def package_digests(
        self, reference: str, packages: Sequence[str], source: ImageSource
    ) -> tuple[str, ...] | Unavailable:
        """`Package.digest` of each, empty for one that the catalog does not have; nothing is decoded."""
        return self._read(reference, source, lambda catalog: tuple(map(catalog.digest, packages)))

    def documents(self, reference: str, name: str, source: ImageSource) -> tuple[Blob, ...] | Unavailable:
        """Every document of a package in order, whole, whether or not they make a package."""

        def read(catalog: Snapshot) -> tuple[Blob, ...]:
            pages = catalog.documents(name)
            return tuple(map(pages.value, pages.rows()))

        return self._read(reference, source, read)

    def bundle(self, reference: str, package: str, name: str, source: ImageSource) -> Blob | Unavailable | None:
        """The document of a bundle, whole: with its CSV or what the catalog states of it; None without one."""

        def read(catalog: Snapshot) -> Blob | None:
            pages = catalog.documents(package)
            return next(map(pages.value, pages.rows("olm.bundle", name)), None)

        return self._read(reference, source, read)

    def packages(self, reference: str, source: ImageSource) -> tuple[str, ...] | Unavailable:
        """The names of all packages, sorted."""
        return self._read(reference, source, lambda catalog: catalog.names)

    def providers(
        self, reference: str, api: tuple[str, str, str], source: ImageSource
    ) -> tuple[str, ...] | Unavailable:
        """The packages that have a bundle which provides an API: its group, version and kind."""
        return self._read(reference, source, lambda catalog: catalog.providers_of(*api))

    def snapshot(self, reference: str, source: ImageSource) -> Snapshot | Unavailable:
        """A whole catalog, for callers that read much of it: everything that it leans on is here, and undamaged."""
        return self._read(reference, source, self._whole)

    def _whole(self, catalog: Snapshot) -> Snapshot:
        """The same one. FileNotFoundError, BrokenSnapshot."""
        for name in (catalog.name, *needed_by(catalog)):
            self._store.needed(name)
        catalog.verify()
        return catalog

    def keep_only(self, references: Sequence[str]) -> int:
        """Delete the other catalogs, except those used recently; returns the bytes freed. Implements `Content`."""
        desired = {file_of(name_of(_digest_of(reference))) for reference in references}
        freed = self._store.forget(
            lambda name: name in desired or not name.startswith(_OURS), unused_seconds=_UNUSED_SECONDS
        )
        if freed:
            self._open.clear()
        return freed

    def _pull_from_server(self, source: ImageSource) -> Pulled | Unavailable:
        desired = _form(source.image).desired(source)  # what is asked for is what the server has now
        try:
            with self._puller.bounded(source.namespace):
                found, catalog = self._of_server(desired)
        except OciError as error:
            return error.unavailable()
        self._grants.answered(found.server, found.digest)
        return Pulled(str(found), len(catalog.names), catalog.header.left_out)

    def _of_server(
        self, desired: Address | ConfigMapContent, *, is_kept_good: bool = True
    ) -> tuple[Address | ConfigMapContent, Snapshot]:
        if isinstance(desired, ConfigMapContent):
            return snapshot_of_config_map(desired, self._store, self._get, is_kept_good=is_kept_good)
        return snapshot_of_address(desired, self._store, rules=self._puller.rules, is_kept_good=is_kept_good)

    def _read(self, reference: str, source: ImageSource, read: Callable[[Snapshot], _T]) -> _T | Unavailable:
        """Read in a catalog by digest. One that was forgotten or damaged meanwhile is indexed again, once."""
        try:
            return self._read_once(reference, source, read)
        except (FileNotFoundError, BrokenSnapshot):
            self._open.pop(_digest_of(reference), None)
            self._store.drop(name_of(_digest_of(reference)))
            return self._read_once(reference, source, read)

    def _read_once(self, reference: str, source: ImageSource, read: Callable[[Snapshot], _T]) -> _T | Unavailable:
        digest = _digest_of(reference)
        is_known = digest in self._open and self._clock() < self._served.get(_asker(source, reference), 0.0)
        catalog = self._keep_open(digest, self._open[digest]) if is_known else self._opened(reference, source)
        return catalog if isinstance(catalog, Unavailable) else read(catalog)

    def _opened(self, reference: str, source: ImageSource) -> Snapshot | Unavailable:
        """The catalog from the store, or from its image, server or ConfigMap; this reads the pull secrets."""
        if reference.startswith(_NO_IMAGES):
            return self._opened_from_server(reference, source)

        def use(registry: Registry, found: Reference) -> Snapshot:
            return self._served_by(registry, found, source)

        return self._puller.run(source, reference, use, is_hurried=True)

    def _served_by(self, registry: Registry, found: Reference, source: ImageSource) -> Snapshot:
        """The catalog, for who may pull it. OciError for anybody else."""
        until = self._grants.check(registry, found)
        catalog = self._open.get(found.digest) or snapshot_of_image(registry, found, self._store, self._indexer)
        registry.forget_blobs()
        self._serve(_asker(source, str(found)), until)
        return self._keep_open(found.digest, catalog)

    def _opened_from_server(self, reference: str, source: ImageSource) -> Snapshot | Unavailable:
        try:
            desired = _form(reference).parse(reference, source)
            is_kept_good = self._grants.has_answered(desired.server, desired.digest)
            with self._puller.bounded(source.namespace, is_hurried=True):
                address, catalog = self._of_server(desired, is_kept_good=is_kept_good)
        except OciError as error:
            return error.unavailable()
        if not is_kept_good:
            self._grants.answered(address.server, address.digest)
        self._serve(_asker(source, reference), self._clock() + FRESH_SECONDS)
        return self._keep_open(address.digest, catalog)

    def _serve(self, asker: _Asker, until: float) -> None:
        if len(self._served) >= _ASKERS:
            self._served.clear()
        self._served[asker] = until

    def _keep_open(self, digest: str, catalog: Snapshot) -> Snapshot:
        """Keep it as the one that was used last; the one that was not used for longest is closed for it."""
        self._open.pop(digest, None)
        while len(self._open) >= _OPEN_CATALOGS:
            del self._open[next(iter(self._open))]
        self._open[digest] = catalog
        return catalog


def _form(text: str) -> type[Address] | type[ConfigMapContent]:
    """What a text names that is no image."""
    return Address if text.startswith(SERVED) else ConfigMapContent


def _digest_of(reference: str) -> str:
    return reference.rpartition("@")[2]


def _asker(source: ImageSource, reference: str) -> _Asker:
    return reference, source.namespace, source.secrets
