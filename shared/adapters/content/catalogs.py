"""The `Catalogs` port: catalog images, indexed once per digest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

import msgspec

from shared import names
from shared.adapters.content.pulling import Puller
from shared.adapters.content.snapshot import BrokenSnapshot, Older, Snapshot, Source, file_name, write
from shared.adapters.content.snapshot.needs import IMAGE
from shared.adapters.content.store import Store
from shared.adapters.oci import OciError, Reference, Registry, pull
from shared.domain.bundle.annotations import CONFIGS, PACKAGE
from shared.domain.catalog import ignore
from shared.domain.catalog.documents import NotACatalog
from shared.domain.catalog.model import Package
from shared.domain.catalog.parse import SickPackage
from shared.ports import ImageSource, Pulled, Unavailable

_DATABASE: Final = "operators.operatorframework.io.index.database.v1"
_OPEN_CATALOGS: Final = 64
_CHUNK_BYTES: Final = 1024 * 1024
_T = TypeVar("_T")


def name_of(digest: str) -> str:
    """What the snapshot of an image is called in the store."""
    return IMAGE + digest


class ImageCatalogs:
    """Answers from indexed catalogs; an image is pulled when its digest is not here."""

    def __init__(self, store: Store, puller: Puller) -> None:
        self._store = store
        self._puller = puller
        self._open: dict[str, Snapshot] = {}

    def pull(self, source: ImageSource) -> Pulled | Unavailable:
        """Resolve the image to a digest and index it; a digest already indexed costs one HEAD."""

        def use(registry: Registry, reference: Reference) -> Pulled:
            found = reference.at(registry.digest(reference))
            catalog = self._snapshot(registry, found)
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

    def keep_only(self, digests: Iterable[str]) -> int:
        """Forget the catalogs that no object refers to any more; how many bytes that were."""
        wanted = {name_of(digest).replace(":", "-") for digest in digests}
        self._open.clear()
        return self._store.forget(lambda name: name in wanted or not name.startswith(("catalog", "file-")))

    def _ask(self, reference: str, source: ImageSource, question: Callable[[Snapshot], _T]) -> _T | Unavailable:
        def use(registry: Registry, found: Reference) -> _T:
            try:
                return question(self._snapshot(registry, found))
            except (FileNotFoundError, BrokenSnapshot):  # forgotten or damaged between two looks: index it again
                self._open.pop(found.digest, None)
                self._store.drop(name_of(found.digest))
                return question(self._snapshot(registry, found))

        return self._puller.run(source, reference, use)

    def _snapshot(self, registry: Registry, reference: Reference) -> Snapshot:
        digest = reference.digest
        if digest not in self._open:
            if len(self._open) >= _OPEN_CATALOGS:
                self._open.clear()
            self._open[digest] = self._filled(name_of(digest), partial(self._write, registry, reference))
        return self._open[digest]

    def _filled(self, name: str, fill: Callable[[BinaryIO], None]) -> Snapshot:
        try:
            path = self._store.fill(name, fill)
            try:
                return Snapshot.open(path, self._store.needed)
            except BrokenSnapshot:
                self._store.drop(name)
                return Snapshot.open(self._store.fill(name, fill), self._store.needed)
        except OSError as error:
            what = f"the catalog {name} cannot be kept: {error}"
            raise OciError("Unreachable", f"{what}; check the folder that OLMF_CONTENT names") from error

    def _write(self, registry: Registry, reference: Reference, stream: BinaryIO) -> None:
        image = pull(registry, reference, directories, lambda content: self._store.add(partial(_copied, content)))
        files = {path: self._store.needed(name) for path, name in image.files.items()}
        sources = [
            Source(path, file, file.name.removeprefix("file-").replace("-", ":", 1)) for path, file in _chosen(files)
        ]
        try:
            write(stream, sources, left_out=_left_out(image.labels), older=self._older())
        except NotACatalog as error:
            raise OciError(
                "Malformed", f"{reference}: the image holds no catalog: {error}; try `olmf catalog validate` on it"
            ) from error

    def _older(self) -> Older | None:
        """The catalog that was used last: most likely the one of which this is the next edition."""
        if (name := self._store.newest(IMAGE)) is None:
            return None
        try:
            return Older(name, Snapshot.open(self._store.needed(name), self._store.needed))
        except (BrokenSnapshot, FileNotFoundError):
            return None


def directories(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Where a catalog image has its files. OciError when it is none."""
    if CONFIGS in labels:
        return (labels[CONFIGS].strip("/"),)
    if _DATABASE in labels:
        raise OciError(
            "Malformed", "it holds a database, a form of catalog that is no longer served: migrate it to files"
        )
    if PACKAGE in labels:
        raise OciError("Malformed", "it is a bundle, not a catalog: name the image of a catalog that lists it")
    raise OciError("Malformed", f"it is no catalog: the label {CONFIGS} does not say where its files are")


def _left_out(labels: Mapping[str, str]) -> tuple[str, ...]:
    try:
        return msgspec.json.decode(labels.get(names.LEFT_OUT, "[]"), type=tuple[str, ...])
    except msgspec.DecodeError:  # somebody else's label: it is their catalog all the same
        return ()


def _chosen(files: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    """The files that `.indexignore` leaves, by path."""
    lists = [path for path in files if path.rpartition("/")[2] == ignore.NAME]
    rules = ignore.IgnoreRules.parse({path: files[path].read_text("utf-8", "replace") for path in lists})
    return ((path, files[path]) for path in sorted(files) if not rules.is_ignored(path))


def _copied(content: BinaryIO, stream: BinaryIO) -> str:
    """Keep a file under its digest: no name of the image ever becomes a path of this machine."""
    seen = hashlib.sha256()
    while chunk := content.read(_CHUNK_BYTES):
        seen.update(chunk)
        stream.write(chunk)
    return file_name(f"sha256:{seen.hexdigest()}")
