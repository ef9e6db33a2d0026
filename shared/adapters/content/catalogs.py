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
from shared.domain.catalog.model import Package
from shared.domain.catalog.parse import SickPackage
from shared.ports import ImageSource, Pulled, Unavailable

_OPEN_CATALOGS: Final = 64
_OURS: Final = ("catalog", "file-")
"""What the names of snapshots of images begin with, in any form that they ever had, and those of their files."""
_UNUSED_SECONDS: Final = 3600.0
"""What was used since is kept: somebody may be about to refer to it."""
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
            return self._told(source.image)

        def use(registry: Registry, reference: Reference) -> Pulled:
            found = reference.at(registry.digest(reference))
            catalog = self._opened(found.digest, lambda: snapshot_of_image(registry, found, self._store))
            return Pulled(str(found), len(catalog.names), catalog.header.left_out)

        return self._puller.run(source, source.image, use)

    def package(self, reference: str, name: str, source: ImageSource) -> Package | Unavailable | None:
        """One package of an indexed catalog; a sick one is unavailable, which leaves its neighbours alone."""
        found = self._ask(reference, source, lambda catalog: catalog.package(name))
        if isinstance(found, SickPackage):
            return Unavailable("Malformed", f"package {name} of {reference}: {'; '.join(found.findings)}")
        return found

    def packages(self, reference: str, source: ImageSource) -> tuple[str, ...] | Unavailable:
        """The names of all packages, sorted."""
        return self._ask(reference, source, lambda catalog: catalog.names)

    def providers(
        self, reference: str, api: tuple[str, str, str], source: ImageSource
    ) -> tuple[str, ...] | Unavailable:
        """The packages that have a bundle which provides an API: its group, version and kind."""
        return self._ask(reference, source, lambda catalog: catalog.providers_of(*api))

    def snapshot(self, reference: str, source: ImageSource) -> Snapshot | Unavailable:
        """A whole catalog, for those who ask many questions."""
        return self._ask(reference, source, lambda catalog: catalog)

    def keep_only(self, references: Sequence[str]) -> int:
        """Forget the other catalogs, unless they were used lately; how many bytes that were. Implements `Content`."""
        wanted = {file_of(name_of(reference.rpartition("@")[2])) for reference in references}
        freed = self._store.forget(
            lambda name: name in wanted or not name.startswith(_OURS), unused_seconds=_UNUSED_SECONDS
        )
        if freed:
            self._open.clear()
        return freed

    def _told(self, address: str) -> Pulled | Unavailable:
        try:
            found, catalog = snapshot_of_address(Address.parse(address), self._store)
        except OciError as error:
            return error.unavailable()
        return Pulled(str(found), len(catalog.names))

    def _ask(self, reference: str, source: ImageSource, question: Callable[[Snapshot], _T]) -> _T | Unavailable:
        if not reference.startswith(PREFIX):
            return self._puller.run(source, reference, lambda registry, found: self._answer(
                found.digest, lambda: snapshot_of_image(registry, found, self._store), question
            ))  # fmt: skip
        address = Address.parse(reference)
        try:
            return self._answer(address.digest, lambda: snapshot_of_address(address, self._store)[1], question)
        except OciError as error:
            return error.unavailable()

    def _answer(self, digest: str, open_it: Callable[[], Snapshot], question: Callable[[Snapshot], _T]) -> _T:
        """Put a question to the catalog of a digest; one that was forgotten or damaged meanwhile is indexed again."""
        try:
            return question(self._opened(digest, open_it))
        except (FileNotFoundError, BrokenSnapshot):
            self._open.pop(digest, None)
            self._store.drop(name_of(digest))
            return question(self._opened(digest, open_it))

    def _opened(self, digest: str, open_it: Callable[[], Snapshot]) -> Snapshot:
        if digest not in self._open:
            if len(self._open) >= _OPEN_CATALOGS:
                self._open.clear()
            self._open[digest] = open_it()
        return self._open[digest]
