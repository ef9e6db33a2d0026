"""The findings about a catalog, with their places, and the tree that they form (fbc.md §6.6)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

_LINE_OF_DOCUMENT: Final = re.compile(r"^(error converting YAML to JSON: yaml: )line \d+: ")
"""A line counted from the beginning of its document, where the place says that of the file."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document is."""

    file: str = ""
    document: int = 0
    """Counted from 1; 0 when the whole file is meant."""
    offset: int = 0
    """Bytes before it in its file."""
    line: int = 0
    """Counted from 1; 0 when it was not counted."""

    def __str__(self) -> str:
        parts = [
            self.file,
            f"document {self.document}" if self.document else "",
            f"line {self.line}" if self.line else "",
        ]
        return ", ".join(filter(None, parts))


NOWHERE: Final = Place()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong."""

    message: str
    place: Place = NOWHERE
    path: tuple[str, ...] = ()
    """The parts of the catalog around it, from the outside in; empty before there is a model."""
    lacks_schema: bool = field(default=False, compare=False)
    """The document names no schema, so it is none of a catalog."""


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """The judgement of one catalog."""

    findings: tuple[Finding, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def located(self, read: Callable[[str], bytes]) -> ValidationResult:
        """The same judgement with lines counted, given what a file holds."""
        lines = count_lines((finding.place for finding in self.findings), read)
        return ValidationResult(tuple(replace(one, place=lines.get(one.place, one.place)) for one in self.findings))

    def sentences(self) -> tuple[str, ...]:
        """All findings, each with what it is part of in the catalog, and its place."""
        return tuple(": ".join((*one.path[1:], _leaf(one, with_places=True))) for one in self.findings)

    def text(self, *, with_places: bool = True) -> str:
        """All findings: a line for each, but for equal ones, or the tree that they form."""
        if all(finding.path for finding in self.findings):
            return "\n".join(_tree(self.findings, 0, "", with_places=with_places))
        return "\n".join(dict.fromkeys(_leaf(finding, with_places=with_places) for finding in self.findings))


def count_lines(places: Iterable[Place], read: Callable[[str], bytes]) -> dict[Place, Place]:
    """Places with their lines; each file is read once."""
    counted = {}
    desired = sorted({place for place in places if place.document}, key=lambda place: (place.file, place.offset))
    for file, found in groupby(desired, lambda place: place.file):
        content, line, before = read(file), 1, 0
        for place in found:
            line, before = line + content[before : place.offset].count(b"\n"), place.offset
            counted[place] = replace(place, line=line)
    return counted


def _leaf(finding: Finding, *, with_places: bool) -> str:
    if not with_places or not str(finding.place):
        return finding.message
    message = _LINE_OF_DOCUMENT.sub(r"\1", finding.message) if finding.place.line else finding.message
    return f"{message} ({finding.place})"


def _tree(findings: Sequence[Finding], depth: int, indent: str, *, with_places: bool) -> Iterator[str]:
    """The lines of the nodes at a depth; findings of one node follow each other."""
    nodes = [(name, list(group)) for name, group in groupby(findings, lambda one: one.path[depth : depth + 1])]
    branches = [(name, members) for name, found in nodes for members in ([found] if name else [[one] for one in found])]
    for number, (name, members) in enumerate(branches, start=1):
        is_last = number == len(branches)
        edge = ("└── " if is_last else "├── ") if depth else ""
        if not name:
            yield f"{indent}{edge}{_leaf(members[0], with_places=with_places)}"
            continue
        yield f"{indent}{edge}{name[0]}:"
        below = indent + (("    " if is_last else "│   ") if depth else "")
        yield from _tree(members, depth + 1, below, with_places=with_places)
