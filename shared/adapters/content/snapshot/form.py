"""What the file of a snapshot holds; README.md beside this module draws it."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import BinaryIO, Final, Literal

import msgspec

from shared.domain.catalog.model import Bundle, Channel, Property

FORMAT: Final = "5"
"""Raised when records change: files of another format are not looked at, and indexed again."""
MAGIC: Final = b"OLMFCAT" + FORMAT.encode()
TAIL: Final = struct.Struct(">QQI8s")
"""Where the sections begin, length of their table, checksum of sections and table, `MAGIC`."""
HERE: Final = -1
encode: Final = msgspec.json.Encoder().encode


class BrokenSnapshot(ValueError):
    """A file that is no snapshot, or not the one that was written: a disk lost a part of it."""


class Part(msgspec.Struct, array_like=True, frozen=True):
    """Where a record is."""

    snapshot: int
    """Index into `Header.others`, or `HERE`."""
    offset: int
    length: int
    checksum: int


class Entry(msgspec.Struct, array_like=True, frozen=True):
    """One package: its records, and the files of the catalog that tell of it."""

    state: Literal["healthy", "sick", "foreign"]
    """Foreign: it has documents, but none of the schemas that make a package."""
    channels: Part
    bundles: Part
    documents: Part


class Header(msgspec.Struct, array_like=True, frozen=True):
    """The facts about the whole snapshot."""

    others: tuple[str, ...]
    """Names of older snapshots with the records of packages that have not changed since."""
    folder: str
    """The folder of the files of the catalog; empty when they are stored by digest."""
    left_out: tuple[str, ...] = ()
    """A sentence for each thing that the maker of the catalog had to leave out."""


class File(msgspec.Struct, array_like=True, frozen=True):
    """One file of the catalog when it was indexed."""

    path: str
    identity: str
    """`sha256:…` of its content, or its facts in the file system; equal while the content is the same."""
    packages: tuple[str, ...]


class Channels(msgspec.Struct, array_like=True, frozen=True):
    """A package without its bundles; of an invalid one only the findings."""

    default_channel: str = ""
    channels: tuple[Channel, ...] = ()
    deprecations: dict[str, str] = {}
    findings: tuple[str, ...] = ()


class Bundles(msgspec.Struct, array_like=True, frozen=True):
    """The bundles of a package. Versions have mostly the same properties: each is stored, and in memory, once."""

    statements: tuple[Property, ...]
    rows: tuple[tuple[str, str, str, tuple[int, ...]], ...]
    """Name, version, image, and the indexes of the properties."""

    @classmethod
    def of(cls, bundles: Iterable[Bundle]) -> Bundles:
        """The stored form of some bundles."""
        statements: list[Property] = []
        places: dict[bytes, int] = {}
        rows = []
        for one in bundles:
            indexes = []
            for entry in one.properties:
                index = places.setdefault(encode(entry), len(statements))
                if index == len(statements):
                    statements.append(entry)
                indexes.append(index)
            rows.append((one.name, one.version, one.image, tuple(indexes)))
        return cls(tuple(statements), tuple(rows))

    def by_name(self) -> dict[str, Bundle]:
        """The bundles again."""
        entries = self.statements
        return {
            name: Bundle(name, version, image, tuple([entries[index] for index in indexes]))
            for name, version, image, indexes in self.rows
        }


class Row(msgspec.Struct, array_like=True, frozen=True):
    """One document of the catalog and where its full text is."""

    schema: str
    name: str
    file: int
    """Index into `Documents.files`; of a text in the snapshot of this record, as one line of JSON, its complement."""
    offset: int
    length: int
    number: int = 0
    """Of a text in the snapshot: which document of its file it is, from 1."""

    @property
    def is_here(self) -> bool:
        """Whether the text is in the snapshot of this record."""
        return self.file < 0

    @property
    def place(self) -> int:
        """Rises with the documents of a file."""
        return self.number if self.is_here else self.offset


class Documents(msgspec.Struct, array_like=True, frozen=True):
    """Every document of a package, in order."""

    files: tuple[str, ...]
    rows: tuple[Row, ...]


def checksum(content: bytes | bytearray | memoryview) -> int:
    """It finds lost and torn parts; what was tampered with, digests found before it was indexed."""
    return zlib.crc32(content)


def write_sections(stream: BinaryIO, start: int, sections: dict[str, object]) -> None:
    """End the file of a snapshot, of which `start` bytes of records are written."""
    body, table = bytearray(), {}
    for name, value in sections.items():
        content = encode(value)
        table[name] = (len(body), len(content))
        body += content
    footer = encode(table)
    body += footer
    stream.write(body + TAIL.pack(start, len(footer), checksum(body), MAGIC))


_TABLE: Final = msgspec.json.Decoder(dict[str, tuple[int, int]])


def read_sections(content: memoryview) -> dict[str, memoryview]:
    """The sections of a file. BrokenSnapshot when it is none, or not whole."""
    end = len(content) - TAIL.size
    if end < 0:
        raise BrokenSnapshot("too short for a snapshot")
    start, length, expected, magic = TAIL.unpack(content[end:])
    if magic != MAGIC or start + length > end or checksum(content[start:end]) != expected:
        raise BrokenSnapshot("not a whole snapshot of this format")
    table = _TABLE.decode(content[end - length : end])
    return {name: content[start + offset : start + offset + size] for name, (offset, size) in table.items()}


def provider_key(group: str, version: str, kind: str) -> str:
    """The key of an API among the providers; empty for what no API can be called, which could be read as another."""
    return "" if "/" in version or "/" in kind else f"{group}/{version}/{kind}"
