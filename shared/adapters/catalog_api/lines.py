"""A whole catalog as lines of JSON, a document each in the order of its files, and where each of them stands."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from shared.adapters.catalog_api.codings import CODINGS
from shared.adapters.catalog_api.line_file import Content, Opened, Writer, mapped
from shared.adapters.content.indexing import Indexer, Read
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.snapshot.reading import Pages
from shared.adapters.content.store import Store
from shared.adapters.oci.errors import OciError
from shared.domain.go import encode

_LARGEST_PACKED: Final = 4 * 1024 * 1024
"""Bytes; more than that is packed anew for each client, while it is sent."""
_KEPT_PACKED: Final = 8 * 1024 * 1024
"""Bytes of packed parts of a catalog that are kept in memory."""


class Lines:
    """The documents of a snapshot that is in a store; written into a file of that store at the first question."""

    def __init__(self, snapshot: Snapshot, store: Store, modified: datetime | None = None) -> None:
        """`modified` is when the content changed; without it, when it was indexed here."""
        self._snapshot = snapshot
        self._store = store
        self.tag = snapshot.name
        """Changes whenever the catalog does."""
        changed = store.needed(snapshot.name).stat().st_ctime
        self.modified = modified or datetime.fromtimestamp(int(changed), UTC)
        """When it last changed, whole seconds."""
        self._lock = threading.Lock()
        self._opened: Opened | None = None
        self._packed: dict[tuple[str, str, str, str], Content] = {}
        """By coding, schema, package and name."""

    def matching(self, schema: str = "", package: str = "", name: str = "") -> Content:
        """The documents with a schema, a package and a name; an empty word fits all.

        OSError or OciError when its file cannot be made, BrokenSnapshot when the snapshot is damaged.
        """
        opened = self._open()
        spans = opened.spans(schema, package, name)
        return Content(opened.file, spans, sum(end - start for start, end in spans))

    def packed(self, coding: str, schema: str = "", package: str = "", name: str = "") -> Content | None:
        """The same documents in a content coding; None where they have not been packed yet."""
        return self._packed.get((coding, schema, package, name))

    def pack(self, coding: str, schema: str = "", package: str = "", name: str = "") -> Content | None:
        """The same, packed now: all of them into a file, some into memory; None where there is no room for them."""
        found = self.matching(schema, package, name)
        if not (schema or package or name):
            return self._kept((coding, "", "", ""), self._packed_file(coding, found))
        if found.size > _LARGEST_PACKED:
            return None
        content = memoryview(b"".join(CODINGS[coding](found.chunks(0, found.size))))
        return self._kept((coding, schema, package, name), Content(content, [(0, len(content))], len(content)))

    def _kept(self, words: tuple[str, str, str, str], content: Content | None) -> Content | None:
        """The content, known from now on; of parts of the catalog, those that were packed first are forgotten first."""
        if content is None:
            return None
        with self._lock:
            self._packed[words] = content
            parts = [one for one in self._packed if any(one[1:])]
            while sum(self._packed[one].size for one in parts) > _KEPT_PACKED:
                del self._packed[parts.pop(0)]
        return content

    def _packed_file(self, coding: str, everything: Content) -> Content | None:
        def pack(stream: BinaryIO) -> None:
            stream.writelines(CODINGS[coding](everything.chunks(0, everything.size)))

        try:
            file = mapped(self._store.fill(f"{_name_of(self._snapshot.name)}.{coding}", pack))
        except (OciError, OSError):
            return None
        return Content(file, [(0, len(file))], len(file))

    def derived(self, what: str, make: Callable[[Opened], bytes], decode: Callable[[bytes], object]) -> Path:
        """A file that is made of all lines once, and kept beside them. OSError, OciError, BrokenSnapshot.

        It is made anew where `decode` raises msgspec.DecodeError of what the store has.
        """
        name = f"{what}-{self._snapshot.name}"

        def write(stream: BinaryIO) -> None:
            stream.write(make(self._open()))

        found = self._store.fill(name, write)
        try:
            decode(found.read_bytes())
        except msgspec.DecodeError:  # the disk lost a part of it
            self._store.drop(name)
            found = self._store.fill(name, write)
        return found

    def _open(self) -> Opened:
        with self._lock:
            if self._opened is None:
                try:
                    self._opened = Opened(self.file())
                except (msgspec.DecodeError, struct.error, ValueError):  # the disk lost a part of it
                    self._store.drop(_name_of(self._snapshot.name))
                    self._opened = Opened(self.file())
            return self._opened

    def file(self) -> Path:
        """The file of all lines, made anew where the store has lost it. OSError, OciError, BrokenSnapshot."""
        return self._store.fill(_name_of(self._snapshot.name), lambda stream: _write(self._snapshot, stream))


class _PartError(Exception):
    """Not all documents were told of."""


def lines_indexer(store: Store) -> Indexer:
    """Makes the lines of a catalog while it is indexed; where not all of it is read, they are made when asked for."""

    def make(snapshot: str, read: Read) -> None:
        is_read = False

        def write(stream: BinaryIO) -> None:
            nonlocal is_read
            writer, is_read = Writer(stream), True
            if not read(lambda document, text: writer.add(document.schema, document.owner, document.name, text)):
                raise _PartError
            writer.end()

        with suppress(_PartError):
            store.fill(_name_of(snapshot), write)
        if not is_read:  # their file is here
            read(None)

    return make


def _name_of(snapshot: str) -> str:
    """The name of the file of lines in the store, by that of the snapshot."""
    return f"lines2-{snapshot}"


def _write(snapshot: Snapshot, stream: BinaryIO) -> None:
    writer = Writer(stream)
    for owner, schema, name, text in _documents(snapshot):
        writer.add(schema, owner, name, encode.normalized(text()))
    writer.end()


def _documents(snapshot: Snapshot) -> Iterator[tuple[str, str, str, Callable[[], bytes]]]:
    """Package, schema, name and text of each document, file by file as upstream walks a folder (v1.md §5.1)."""
    found: list[tuple[list[str], int, int, str, Pages]] = []
    for owner in sorted(snapshot.entries):
        pages = snapshot.documents(owner)
        for number, row in enumerate(pages.documents.rows):
            found.append((pages.path(row).split("/"), row.place, number, owner, pages))
    for _, _, number, owner, pages in sorted(found, key=lambda one: one[:4]):
        row = pages.documents.rows[number]
        yield owner, row.schema, row.name, lambda pages=pages, row=row: pages.text(row)  # type: ignore[misc]  # why: bound now
