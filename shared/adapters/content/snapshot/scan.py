"""The documents of a catalog file, without what only people read, and where each of them stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec
import orjson

from shared.domain.catalog.documents import HEAVY, Document, NotACatalog, canonical, light
from shared.domain.catalog.meta import refusal
from shared.domain.catalog.validation_result import Place
from shared.domain.go import encode
from shared.domain.go import stream as gostream

_CHUNK_BYTES: Final = 512 * 1024
_BOUNDARY: Final = b"}\n"
"""Before a `{`, never inside a document: a text holds no bare line end, and between two values stands a comma."""
_SHORTEST: Final = _BOUNDARY + b"{"
DOCUMENT_BYTES: Final = 64 * 1024 * 1024
FILE_BYTES: Final = 512 * 1024 * 1024
"""Of a file that has to be read in one piece."""
_UNSPLIT: Final = f"more than {DOCUMENT_BYTES} bytes in one document: split it, or take out what nobody reads"
_OPENING: Final = re.compile(rb'\s*(\{\s*(?:"\w+")?)')
_OPENING_BYTES: Final = 80


@dataclass(frozen=True, slots=True)
class Found:
    """A document and the place of its full text."""

    document: Document
    offset: int
    length: int
    text: bytes = b""
    """The document as one line, where no place in the file holds it as JSON."""
    number: int = 0
    """Of such a document: which one of its file it is, from 1."""


Observe: TypeAlias = Callable[[Document, bytes], object]
"""Takes a document and its text as Go writes it."""

_V = TypeVar("_V")
"""What becomes of the parts of a document: `msgspec.Raw`, or the value itself."""
_ABSENT: Final[Any] = None  # why: no `_V | None`, for `msgspec.Raw` stands in no union


class _Property(msgspec.Struct, Generic[_V], forbid_unknown_fields=True):
    type: str
    value: _V = _ABSENT


class _Plain(msgspec.Struct, Generic[_V], forbid_unknown_fields=True):
    """A document as tools write it; one that is not like this takes the slower way, which knows every rule."""

    schema: str
    name: str = ""
    package: str = ""
    image: str | None = None
    defaultChannel: str | None = None  # noqa: N815  # why: the spelling of catalogs
    entries: _V = _ABSENT
    properties: list[_Property[_V]] | None = None
    description: _V = _ABSENT
    icon: _V = _ABSENT
    relatedImages: _V = _ABSENT  # noqa: N815  # why: the spelling of catalogs


_plain: Final = msgspec.json.Decoder(_Plain[msgspec.Raw]).decode


class _NotPlainError(Exception):
    """A file is no sequence of JSON objects that all begin on lines of their own, or not in the same way."""


class _TooLargeError(Exception):
    """A document is larger than anybody means it to be."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


class Scanner:
    """Reads files one by one; equal small values are kept once, because bundles repeat each other."""

    def __init__(self, observe: Observe | None = None) -> None:
        self.observe = observe
        """Told of each document; None from the first file on that is not JSON as tools write it."""
        self._values: dict[bytes, Any] = {}

    def scan(self, path: str, file: Path) -> list[Found]:
        """All documents of one file. NotACatalog at the first invalid one, OSError when the file cannot be read."""
        try:
            return self._scanned(path, file)
        except NotACatalog as error:
            error.place = _with_line(error.place, file)
            raise

    def _scanned(self, path: str, file: Path) -> list[Found]:
        opening = _opening(file)
        for boundary in (_BOUNDARY + opening, _SHORTEST) if opening else ():
            try:
                return list(self._quickly(path, file, boundary))
            except _NotPlainError:
                self.observe = None  # it was told of a part of this file
        self.observe = None
        if file.stat().st_size > FILE_BYTES:
            raise NotACatalog(f"more than {FILE_BYTES} bytes that are not JSON line by line: split it", Place(path))
        return list(carefully(path, file.read_bytes()))

    def _quickly(self, path: str, file: Path, boundary: bytes) -> Iterator[Found]:
        number = 0
        try:
            for number, (offset, content) in enumerate(_cut(file, boundary), start=1):
                yield Found(self._read(Place(path, number, offset), content), offset, len(content))
        except _TooLargeError as error:
            if boundary != _SHORTEST:
                raise _NotPlainError from error
            raise NotACatalog(_UNSPLIT, Place(path, number + 1, error.offset)) from error

    def _read(self, place: Place, content: memoryview) -> Document:
        read = encode.read_and_normalized(content) if self.observe else None
        try:
            plain = msgspec.convert(read[0], _Plain[Any]) if read else _plain(content)
            document = self._light(f"{place.file}, document {place.document}", plain)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # also what has not the plain form
            document = _odd(place, content)
        if self.observe:
            self.observe(document, read[1] if read else encode.normalized(bytes(content)))
        return document

    def _light(self, where: str, plain: _Plain[Any]) -> Document:
        fields: dict[str, Any] = {}
        match plain.schema:
            case "olm.bundle":
                kept = [one for one in plain.properties or () if one.type not in HEAVY]
                properties = [{"type": one.type, "value": self._shared(one.value)} for one in kept]
                fields = {"image": plain.image, "properties": properties}
            case "olm.package":
                fields = {"defaultChannel": plain.defaultChannel}
            case "olm.channel" | "olm.deprecations":
                fields = {"entries": canonical(plain.schema, "entries", _value(plain.entries))}
        return Document(where, plain.schema, plain.package, plain.name, fields)

    def _shared(self, part: Any) -> Any:  # why: any JSON value
        text = bytes(part) if isinstance(part, msgspec.Raw) else orjson.dumps(part)
        if text not in self._values:
            self._values[text] = _value(part)
        return self._values[text]


def _value(part: Any) -> Any:  # why: any JSON value
    return msgspec.json.decode(part) if isinstance(part, msgspec.Raw) else part


def _opening(file: Path) -> bytes:
    """How the first document begins, and so, in what tools write, all others: long words are found faster.

    Empty when the file is not JSON.
    """
    with file.open("rb") as stream:
        found = _OPENING.match(stream.read(_OPENING_BYTES))
    return found[1] if found else b""


def _cut(file: Path, boundary: bytes) -> Iterator[tuple[int, memoryview]]:
    """Offset and bytes of each object; the bytes are valid until the next one is asked for."""
    buffer, have, base = bytearray(_CHUNK_BYTES), 0, 0
    with file.open("rb", buffering=0) as stream:
        while count := stream.readinto(memoryview(buffer)[have:]):
            seen, have, start = have, have + count, 0
            view = memoryview(buffer)
            after = max(0, seen - len(boundary))
            while (found := buffer.find(boundary, after, have)) >= 0:
                yield base + start, view[start : found + 1]
                start = after = found + 2
            view[: have - start] = bytes(view[start:have])
            have, base = have - start, base + start
            if have > DOCUMENT_BYTES:
                raise _TooLargeError(base)
            if have > len(buffer) // 2:
                buffer = buffer + bytes(len(buffer))
        if buffer[:have].strip():
            yield base, memoryview(buffer)[:have]


def _odd(place: Place, content: memoryview) -> Document:
    """A document that is JSON, but not of the plain form."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise _NotPlainError from error
    return _document(place, value)


def _document(place: Place, value: Any) -> Document:  # why: any JSON value
    found = Document.of(str(place), value)
    if isinstance(found, str):
        raise NotACatalog(found, place)
    return light(found)


def carefully(path: str, content: bytes) -> Iterator[Found]:
    """All documents of one file by every rule of fbc.md §2.1. NotACatalog at the first invalid one."""
    for part in gostream.parts(content, refusal):
        place = Place(path, part.number, part.offset)
        if part.error:
            raise NotACatalog(part.error, place)
        document = _document(place, part.value)
        try:
            text = orjson.dumps(part.value)
        except orjson.JSONEncodeError as error:
            raise NotACatalog(f"it cannot be kept: {str(error).lower()}", place) from error
        yield Found(document, 0, len(text), text, part.number)


def _with_line(place: Place, file: Path) -> Place:
    """The place with its line, which is counted only for an error; OSError when the file cannot be read."""
    if not place.document:
        return place
    line, left = 1, place.offset
    with file.open("rb") as stream:
        while chunk := stream.read(min(left, _CHUNK_BYTES)):
            line, left = line + chunk.count(b"\n"), left - len(chunk)
    return replace(place, line=line)
