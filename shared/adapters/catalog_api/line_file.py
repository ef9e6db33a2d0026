"""A file of lines of JSON with an index at its end: what is served, and what questions about it read."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

import msgspec

_CHUNK_BYTES: Final = 64 * 1024
TAIL: Final = struct.Struct(">Q")
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


class Writer:
    """Writes the lines of a file one by one, and the index at the end."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lines: list[Line] = []

    def add(self, schema: str, package: str, name: str, text: bytes) -> None:
        """Write the text of a document as a line."""
        self._stream.write(text)
        self._stream.write(b"\n")
        self._lines.append(Line(schema, "" if schema == "olm.package" else package, name, len(text) + 1))

    def end(self) -> None:
        """Write the index."""
        self._stream.write(msgspec.json.encode(self._lines))
        self._stream.write(TAIL.pack(sum(line.length for line in self._lines)))


class Opened:
    """A file of lines with its index in memory."""

    def __init__(self, path: Path) -> None:
        self.file = mapped(path)
        self._size: int = TAIL.unpack(self.file[-TAIL.size :])[0]
        self._lines = _index(self.file[self._size : -TAIL.size])
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
        return _joined(map(self._span, numbers))

    @property
    def schemas(self) -> Sequence[str]:
        """The schemas of its documents, in the order of the first of each; none is empty."""
        return [one for one in self._places[0] if one]

    def each(self, schema: str) -> Sequence[_Span]:
        """Where the lines of a schema are, one by one."""
        return [self._span(number) for number in self._places[0].get(schema, ())]

    def _span(self, number: int) -> _Span:
        return self._starts[number], self._starts[number] + self._lines[number].length


def mapped(path: Path) -> memoryview:
    """The bytes of a file."""
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
