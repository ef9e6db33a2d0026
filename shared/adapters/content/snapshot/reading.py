"""An open snapshot: the catalog is mapped into memory, and a package is decoded only when it is asked for."""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from shared.adapters.content.snapshot import form
from shared.adapters.content.snapshot.form import (
    HERE,
    BrokenSnapshot,
    Bundles,
    Channels,
    Documents,
    Entry,
    File,
    Header,
    Part,
    Row,
    provider_key,
    read_sections,
)
from shared.adapters.content.snapshot.identity import is_still
from shared.domain.catalog.model import Bundle, Package
from shared.domain.catalog.parse import SickPackage
from shared.domain.go import json as gojson

Locate = Callable[[str], Path]
"""The file of a name in the store; FileNotFoundError when it was forgotten."""

_HEADER: Final = msgspec.json.Decoder(Header)
_ENTRIES: Final = msgspec.json.Decoder(dict[str, Entry])
_FILES: Final = msgspec.json.Decoder(tuple[File, ...])
_PROVIDERS: Final = msgspec.json.Decoder(dict[str, tuple[str, ...]])
_CHANNELS: Final = msgspec.json.Decoder(Channels)
_BUNDLES: Final = msgspec.json.Decoder(Bundles)
_DOCUMENTS: Final = msgspec.json.Decoder(Documents)
_T = TypeVar("_T")
_DIGEST_BYTES: Final = 16


def file_name(identity: str) -> str:
    """The name of a file of a catalog in the store."""
    return f"file-{identity}"


class Snapshot:
    """One catalog. Safe to share between threads; processes share its pages."""

    def __init__(self, content: memoryview, locate: Locate, name: str = "") -> None:
        self.name = name
        """The name of its file."""
        self._content = content
        self._locate = locate
        self._sections = read_sections(content)
        self.header = self._decoded(_HEADER, "header")
        self.entries = self._decoded(_ENTRIES, "packages")
        self._others: dict[int, memoryview] = {}

    @classmethod
    def open(cls, path: Path, locate: Locate) -> Snapshot:
        """Map a file. BrokenSnapshot when it is none, FileNotFoundError when it is not here."""
        return cls(_mapped(path), locate, path.name)

    def check(self) -> Snapshot:
        """The snapshot itself, if everything that it leans on is here. FileNotFoundError otherwise."""
        for name in self.header.others:
            self._locate(name)
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """All packages, sick ones included, sorted."""
        return tuple(sorted(name for name, entry in self.entries.items() if entry.state != "foreign"))

    @cached_property
    def files(self) -> Mapping[str, File]:
        """The files of the catalog by path."""
        return {file.path: file for file in self._decoded(_FILES, "files")}

    @cached_property
    def providers(self) -> Mapping[str, tuple[str, ...]]:
        """Packages of which a bundle provides an API, by `group/version/kind`."""
        return self._decoded(_PROVIDERS, "providers")

    def providers_of(self, group: str, version: str, kind: str) -> tuple[str, ...]:
        """The healthy packages of which at least one bundle provides an API, sorted."""
        return self.providers.get(provider_key(group, version, kind), ())

    def channels(self, name: str) -> Channels | SickPackage | None:
        """A package without its bundles: default channel, channels with their entries, deprecations."""
        entry = self.entries.get(name)
        if entry is None or entry.state == "foreign":
            return None
        found = self._record(_CHANNELS, entry.channels)
        return found if entry.state == "healthy" else SickPackage(name, found.findings)

    def bundles(self, name: str) -> Mapping[str, Bundle]:
        """The bundles of a healthy package by name: versions, images, properties."""
        entry = self.entries.get(name)
        if entry is None or entry.state != "healthy":
            return {}
        return self._record(_BUNDLES, entry.bundles).by_name()

    def package(self, name: str) -> Package | SickPackage | None:
        """One package, whole."""
        found = self.channels(name)
        if not isinstance(found, Channels):
            return found
        bundles, digest = self.bundles(name), self.digest(name)
        return Package(name, found.default_channel, found.channels, bundles, found.deprecations, digest)

    def digest(self, name: str) -> str:
        """A digest of all that is read of a package; empty for one that the catalog does not have."""
        entry = self.entries.get(name)
        if entry is None or entry.state == "foreign":
            return ""
        found = hashlib.blake2b(entry.state.encode(), digest_size=_DIGEST_BYTES)
        for part in (entry.channels, entry.bundles):
            content = self.raw(part)
            found.update(len(content).to_bytes(8))
            found.update(content)
        return found.hexdigest()

    def documents(self, package: str) -> Pages:
        """The documents of a package in order; of the empty name those that belong to none."""
        entry = self.entries.get(package)
        if entry is None:
            return Pages(self, HERE, Documents((), ()))
        return Pages(self, entry.documents.snapshot, self._record(_DOCUMENTS, entry.documents))

    def verify(self) -> None:
        """Read every record. BrokenSnapshot at the first that is damaged, FileNotFoundError when one is not here."""
        for entry in self.entries.values():
            for part in (entry.channels, entry.bundles, entry.documents):
                self.raw(part)

    def raw(self, part: Part) -> memoryview:
        """The bytes of a record. BrokenSnapshot when they are not those that were written."""
        content = self.of(part.snapshot)[part.offset : part.offset + part.length]
        if len(content) != part.length or form.checksum(content) != part.checksum:
            raise BrokenSnapshot("a record is not the one that was written")
        return content

    def of(self, snapshot: int) -> memoryview:
        """The content of this file, or of an older one that it refers to."""
        if snapshot == HERE:
            return self._content
        if snapshot not in self._others:
            self._others[snapshot] = _mapped(self._locate(self.header.others[snapshot]))
        return self._others[snapshot]

    def source(self, path: str) -> Path:
        """The file of the catalog that has a path, unchanged since. FileNotFoundError when it is no more."""
        identity = self.files[path].identity
        if not self.header.folder:
            return self._locate(file_name(identity))
        found = Path(self.header.folder, path)
        if not is_still(found, identity):
            raise FileNotFoundError(f"{found} has changed since it was indexed")
        return found

    def _record(self, decoder: msgspec.json.Decoder[_T], part: Part) -> _T:
        return decoder.decode(self.raw(part))

    def _decoded(self, decoder: msgspec.json.Decoder[_T], section: str) -> _T:
        try:
            return decoder.decode(self._sections[section])
        except (KeyError, msgspec.DecodeError) as error:
            raise BrokenSnapshot(f"its section {section} cannot be read: {error}") from error


@dataclass(frozen=True, slots=True)
class Pages:
    """The documents of one package; texts are read from their files one by one."""

    snapshot: Snapshot
    section: int
    documents: Documents
    _open: dict[int, Path] = field(default_factory=dict)

    def rows(self, schema: str = "", name: str = "") -> Iterator[Row]:
        """The documents with a schema and a name; an empty word fits all."""
        for row in self.documents.rows:
            if schema in ("", row.schema) and name in ("", row.name):
                yield row

    def path(self, row: Row) -> str:
        """The file of the catalog that a document is from."""
        return self.documents.files[~row.file if row.is_here else row.file]

    def text(self, row: Row) -> bytes:
        """The full text of a document, as JSON. FileNotFoundError when its file is gone or has changed."""
        if row.is_here:
            return bytes(self.snapshot.of(self.section)[row.offset : row.offset + row.length])
        if row.file not in self._open:
            self._open[row.file] = self.snapshot.source(self.documents.files[row.file])
        with self._open[row.file].open("rb", buffering=0) as stream:
            stream.seek(row.offset)
            return stream.read(row.length)

    def value(self, row: Row) -> Any:  # why: any JSON value
        """A document, whole: with CSV metadata, icons and objects."""
        return gojson.loads(self.text(row))


def _mapped(path: Path) -> memoryview:
    with path.open("rb") as stream:
        try:
            return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        except ValueError as error:
            raise BrokenSnapshot(f"{path} is empty") from error
