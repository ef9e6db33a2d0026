"""A whole catalog as lines of JSON, a document each in the order of its files, and where each of them stands."""

from __future__ import annotations

import mmap
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

import msgspec

from shared.adapters.catalog_api.codings import CODINGS
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.snapshot.reading import Pages
from shared.adapters.content.store import Store
from shared.adapters.oci.errors import OciError
from shared.domain.go import encode

_CHUNK_BYTES: Final = 64 * 1024
_LARGEST_PACKED: Final = 4 * 1024 * 1024
"""Bytes; more than that is packed anew for each client, while it is sent."""
_KEPT_PACKED: Final = 8 * 1024 * 1024
"""Bytes of packed parts of a catalog that are kept in memory."""
_TAIL: Final = struct.Struct(">Q")
"""At the end of a file: how many bytes of it are lines; between them and it stands the index."""
_Span: TypeAlias = tuple[int, int]
"""Where bytes begin, and where they end."""


class Line(msgspec.Struct, array_like=True, frozen=True):
    """One document."""

    schema: str
    package: str
    """What its field `package` says: an `olm.package` has none."""
    name: str
    length: int


_index: Final = msgspec.json.Decoder(list[Line]).decode


@dataclass(frozen=True, slots=True)
class Content:
    """Some of the bytes of a file, which is mapped while anybody reads it, whatever becomes of its name."""

    file: memoryview
    spans: Sequence[_Span]
    size: int

    def chunks(self, start: int, end: int) -> Iterator[memoryview]:
        """The bytes from one position up to another."""
        for first, last in self.spans:
            length = last - first
            to = first + min(end, length)
            for at in range(first + max(0, start), to, _CHUNK_BYTES):
                yield self.file[at : min(to, at + _CHUNK_BYTES)]
            start, end = start - length, end - length


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
        self._opened: _Opened | None = None
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
            file = _mapped(self._store.fill(f"{_name_of(self._snapshot)}.{coding}", pack))
        except (OciError, OSError):
            return None
        return Content(file, [(0, len(file))], len(file))

    def _open(self) -> _Opened:
        with self._lock:
            if self._opened is None:
                try:
                    self._opened = _Opened(self._file())
                except (msgspec.DecodeError, struct.error, ValueError):  # the disk lost a part of it
                    self._store.drop(_name_of(self._snapshot))
                    self._opened = _Opened(self._file())
            return self._opened

    def _file(self) -> Path:
        return self._store.fill(_name_of(self._snapshot), lambda stream: _write(self._snapshot, stream))


class _Opened:
    """A file of lines with its index in memory."""

    def __init__(self, path: Path) -> None:
        self.file = _mapped(path)
        self._size: int = _TAIL.unpack(self.file[-_TAIL.size :])[0]
        self._lines = _index(self.file[self._size : -_TAIL.size])
        self._starts: list[int] = []
        places: tuple[dict[str, list[int]], ...] = ({}, {}, {})
        offset = 0
        for number, line in enumerate(self._lines):
            self._starts.append(offset)
            offset += line.length
            for index, word in zip(places, (line.schema, line.package, line.name), strict=True):
                index.setdefault(word, []).append(number)
        self._places: tuple[Mapping[str, Sequence[int]], ...] = places

    def spans(self, *words: str) -> Sequence[_Span]:
        """Where the lines are that say these words for schema, package and name; an empty word fits all."""
        desired = [index.get(word, ()) for index, word in zip(self._places, words, strict=True) if word]
        if not desired:
            return [(0, self._size)]
        fewest, *others = sorted(desired, key=len)
        numbers = sorted(set(fewest).intersection(*others)) if others else fewest
        return _joined((self._starts[one], self._starts[one] + self._lines[one].length) for one in numbers)


def _mapped(path: Path) -> memoryview:
    with path.open("rb") as stream:
        return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))


def _joined(spans: Iterable[_Span]) -> list[_Span]:
    """The same with neighbours put together."""
    found: list[_Span] = []
    for start, end in spans:
        if found and found[-1][1] == start:
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return found


def _name_of(snapshot: Snapshot) -> str:
    return f"lines2-{snapshot.name}"


def _write(snapshot: Snapshot, stream: BinaryIO) -> None:
    lines: list[Line] = []
    size = 0
    for owner, schema, name, text in _documents(snapshot):
        line = encode.retold(text()) + b"\n"
        stream.write(line)
        size += len(line)
        lines.append(Line(schema, "" if schema == "olm.package" else owner, name, len(line)))
    stream.write(msgspec.json.encode(lines))
    stream.write(_TAIL.pack(size))


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
