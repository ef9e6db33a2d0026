"""The `Catalogs` port: catalog images, indexed once per digest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

import msgspec

from shared import names
from shared.adapters.content import index
from shared.adapters.content.index import BrokenIndex, Index
from shared.adapters.content.pulling import Puller
from shared.adapters.content.store import Store
from shared.adapters.oci import OciError, Reference, Registry, pull
from shared.domain.bundle.annotations import CONFIGS, PACKAGE
from shared.domain.catalog import ignore
from shared.domain.catalog.documents import Document, NotACatalog, group, read
from shared.domain.catalog.model import Package
from shared.domain.catalog.parse import SickPackage, parse
from shared.ports import ImageSource, Pulled, Unavailable

_DATABASE: Final = "operators.operatorframework.io.index.database.v1"
_OPEN_CATALOGS: Final = 64
_CHUNK_BYTES: Final = 1024 * 1024
_T = TypeVar("_T")


class ImageCatalogs:
    """Answers from indexed catalogs; an image is pulled when its digest is not here."""

    def __init__(self, store: Store, puller: Puller) -> None:
        self._store = store
        self._puller = puller
        self._open: dict[str, Index] = {}

    def pull(self, source: ImageSource) -> Pulled | Unavailable:
        """Resolve the image to a digest and index it; a digest already indexed costs one HEAD."""

        def use(registry: Registry, reference: Reference) -> Pulled:
            found = reference.at(registry.digest(reference))
            catalog = self._index(registry, found)
            return Pulled(str(found), len(catalog.records), catalog.left_out)

        return self._puller.run(source, source.image, use)

    def package(self, reference: str, name: str, source: ImageSource) -> Package | Unavailable | None:
        """One package of an indexed catalog; a sick one is unavailable, which leaves its neighbours alone."""
        found = self._ask(reference, source, lambda catalog: catalog.package(name))
        if isinstance(found, SickPackage):
            return Unavailable("Malformed", f"package {name} of {reference}: {'; '.join(found.findings)}")
        return found

    def packages(self, reference: str, source: ImageSource) -> tuple[str, ...] | Unavailable:
        """The names of all packages, sorted."""
        return self._ask(reference, source, Index.names)

    def _ask(self, reference: str, source: ImageSource, question: Callable[[Index], _T]) -> _T | Unavailable:
        def use(registry: Registry, found: Reference) -> _T:
            try:
                return question(self._index(registry, found))
            except FileNotFoundError:
                self._open.pop(found.digest, None)  # forgotten between two looks: index it again
                return question(self._index(registry, found))

        return self._puller.run(source, reference, use)

    def _index(self, registry: Registry, reference: Reference) -> Index:
        digest = reference.digest
        if digest not in self._open:
            if len(self._open) >= _OPEN_CATALOGS:
                self._open.clear()
            self._open[digest] = self._filled(partial(_write, registry, reference, self._store), digest)
        return self._open[digest]

    def _filled(self, write: Callable[[BinaryIO], None], digest: str) -> Index:
        name = f"catalog{index.FORMAT}:{digest}"
        try:
            path = self._store.fill(name, write)
            try:
                return Index.open(path)
            except BrokenIndex:
                path.unlink()
                return Index.open(self._store.fill(name, write))
        except OSError as error:
            what = f"the catalog {digest} cannot be kept: {error}"
            raise OciError("Unreachable", f"{what}; check the folder that OLMF_CONTENT names") from error


def _write(registry: Registry, reference: Reference, store: Store, stream: BinaryIO) -> None:
    with store.scratch() as folder:
        image = pull(registry, reference, _directories, partial(_aside, folder, count()))
        try:
            grouped = group(_documents(image.files))
        except NotACatalog as error:
            raise OciError(
                "Malformed", f"{reference}: the image holds no catalog: {error}; try `opm validate` on its folder"
            ) from error
    index.write(stream, parse(grouped), _left_out(image.labels))


def _left_out(labels: Mapping[str, str]) -> tuple[str, ...]:
    try:
        return msgspec.json.decode(labels.get(names.LEFT_OUT, "[]"), type=tuple[str, ...])
    except msgspec.DecodeError:  # somebody else's label: it is their catalog all the same
        return ()


def _directories(labels: Mapping[str, str]) -> tuple[str, ...]:
    if CONFIGS in labels:
        return (labels[CONFIGS].strip("/"),)
    if _DATABASE in labels:
        raise OciError(
            "Malformed", "it holds a database, a form of catalog that is no longer served: migrate it to files"
        )
    if PACKAGE in labels:
        raise OciError("Malformed", "it is a bundle, not a catalog: name the image of a catalog that lists it")
    raise OciError("Malformed", f"it is no catalog: the label {CONFIGS} does not say where its files are")


def _aside(folder: Path, numbers: Iterator[int], stream: BinaryIO) -> Path:
    """Keep a file under a number: no name of the image ever becomes a path of this machine."""
    path = folder / str(next(numbers))
    with path.open("wb") as copy:
        while chunk := stream.read(_CHUNK_BYTES):
            copy.write(chunk)
    return path


def _documents(files: Mapping[str, Path]) -> Iterator[Document]:
    lists = [name for name in files if name.rpartition("/")[2] == ignore.NAME]
    rules = ignore.IgnoreRules.parse({name: files[name].read_text("utf-8", "replace") for name in lists})
    for name in sorted(files):
        if not rules.is_ignored(name):
            yield from read(name, files[name].read_bytes())
