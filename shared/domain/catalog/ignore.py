"""Which files of a catalog `.indexignore` takes out of it (fbc.md §3.1): nearly, but not quite, the rules of git."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

NAME: Final = ".indexignore"
_ANY_DEPTH: Final = "**"

_Parts: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One line of one file."""

    domain: _Parts
    """The directory that holds the file: the pattern never applies outside."""
    segments: tuple[str, ...]
    takes_back: bool
    is_anchored: bool
    is_directory: bool

    @classmethod
    def of(cls, domain: _Parts, line: str) -> _Pattern:
        text = line.removeprefix("!")
        body = text.removesuffix("/")
        return cls(domain, tuple(body.removeprefix("/").split("/")), line != text, "/" in body, body != text)

    def matches(self, path: _Parts) -> bool:
        if path[: len(self.domain)] != self.domain:
            return False
        below = path[len(self.domain) :]
        # A directory is never the last element, for only files are asked about.
        elements = below[:-1] if self.is_directory else below
        if self.is_anchored:
            return _leads(self.segments, elements)
        return any(_is_like(self.segments[0], element) for element in elements)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """All patterns of a catalog; the last one that matches a path decides."""

    patterns: tuple[_Pattern, ...]

    @classmethod
    def parse(cls, files: Mapping[str, str]) -> IgnoreRules:
        """The rules in files named `.indexignore`, by path."""
        found = []
        for path in sorted(files, key=lambda name: name.split("/")):
            domain = tuple(path.split("/")[:-1])
            lines = (line.strip() for line in files[path].splitlines())
            found += [_Pattern.of(domain, line) for line in lines if line and not line.startswith("#")]
        return cls(tuple(found))

    def is_ignored(self, path: str) -> bool:
        """Whether a file is no part of the catalog. Directories are not pruned: a file can be taken back alone."""
        parts = tuple(path.split("/"))
        if parts[-1] == NAME:
            return True
        deciding = next((pattern for pattern in reversed(self.patterns) if pattern.matches(parts)), None)
        return deciding is not None and not deciding.takes_back


def _leads(segments: tuple[str, ...], elements: _Parts) -> bool:
    """Whether a beginning of the path matches all segments; what lies below a match is matched, too."""
    if not segments:
        return True
    head, *rest = segments
    if head == _ANY_DEPTH:
        if not rest:
            return bool(elements)
        return any(_leads(tuple(rest), elements[skipped:]) for skipped in range(len(elements) + 1))
    if not elements or _ANY_DEPTH in head:
        return False
    return _is_like(head, elements[0]) and _leads(tuple(rest), elements[1:])


_TOKEN: Final = re.compile(r"(?P<any>\*+)|(?P<one>\?)|\[(?P<not>\^?)(?P<set>[^\]]+)\]|(?P<text>.)", re.DOTALL)


_RANGE: Final = re.compile(r"(.)-(.)|(.)", re.DOTALL)


def _is_like(pattern: str, element: str) -> bool:
    try:
        return re.fullmatch("".join(map(_translated, _TOKEN.finditer(pattern))), element, re.DOTALL) is not None
    except re.error:
        return False  # a range from back to front: such a pattern matches nothing


def _translated(token: re.Match[str]) -> str:
    if token["any"]:
        return ".*"
    if token["one"]:
        return "."
    if token["set"]:
        return f"[{token['not']}{_RANGE.sub(_escaped, token['set'])}]"
    return re.escape(token["text"])


def _escaped(part: re.Match[str]) -> str:
    if part[3]:
        return re.escape(part[3])
    return f"{re.escape(part[1])}-{re.escape(part[2])}"
