"""The file of one indexed catalog: a record per package, and at the end where each of them is."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from shared.domain.catalog.model import Package
from shared.domain.catalog.parse import SickPackage

FORMAT: Final = "2"
"""Raised when records change: files of another format are not looked at, and indexed again."""
_TAIL: Final = struct.Struct(">Q")
_ENCODER: Final = msgspec.json.Encoder()
_HEALTHY: Final = msgspec.json.Decoder(Package)
_SICK: Final = msgspec.json.Decoder(SickPackage)


class Record(msgspec.Struct, array_like=True, frozen=True):
    """Where a package is in the file."""

    offset: int
    length: int
    is_sick: bool


class Footer(msgspec.Struct, array_like=True, frozen=True):
    """What is read when a catalog is opened."""

    records: dict[str, Record]
    left_out: tuple[str, ...]


_FOOTER: Final = msgspec.json.Decoder(Footer)


def write(stream: BinaryIO, packages: Iterable[Package | SickPackage], left_out: tuple[str, ...] = ()) -> None:
    """Write the file of a catalog, with the sentences about what its maker left out."""
    records, offset = {}, 0
    for package in packages:
        content = _ENCODER.encode(package)
        records[package.name] = Record(offset, len(content), isinstance(package, SickPackage))
        offset += stream.write(content + b"\n")
    footer = _ENCODER.encode(Footer(records, left_out))
    stream.write(footer + _TAIL.pack(len(footer)))


class BrokenIndex(ValueError):
    """A file that is no index; a disk lost a part of it."""


@dataclass(frozen=True, slots=True)
class Index:
    """An open catalog; a package is read only when it is asked for."""

    path: Path
    records: dict[str, Record]
    left_out: tuple[str, ...] = ()

    @classmethod
    def open(cls, path: Path) -> Index:
        """Read where the packages are."""
        size = path.stat().st_size
        with path.open("rb") as stream:
            stream.seek(max(size - _TAIL.size, 0))
            try:
                (length,) = _TAIL.unpack(stream.read())
                stream.seek(max(size - _TAIL.size - min(length, size), 0))
                footer = _FOOTER.decode(stream.read(min(length, size)))
            except (struct.error, msgspec.DecodeError) as error:
                raise BrokenIndex(f"{path} is no index: {error}") from error
        return cls(path, footer.records, footer.left_out)

    def names(self) -> tuple[str, ...]:
        """All packages, sick ones included, sorted."""
        return tuple(sorted(self.records))

    def package(self, name: str) -> Package | SickPackage | None:
        """One package. FileNotFoundError when the file was forgotten in the meantime."""
        if (record := self.records.get(name)) is None:
            return None
        with self.path.open("rb") as stream:
            stream.seek(record.offset)
            content = stream.read(record.length)
        return _SICK.decode(content) if record.is_sick else _HEALTHY.decode(content)
