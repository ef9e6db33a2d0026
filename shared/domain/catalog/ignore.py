"""Which files `.indexignore` excludes from a catalog (fbc.md §3.1): nearly, but not quite, the rules of git."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

NAME: Final = ".indexignore"
_ANY_DEPTH: Final = "**"
_SPECIAL: Final = frozenset("*?[\\")
_LONGEST_PATTERN: Final = 4096
_LONGEST_NAME: Final = 255
"""Characters of a name that a file system can have; a longer one, which an archive can, matches no pattern."""

_Parts: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Segment:
    """What stands between two slashes of a pattern."""

    text: str
    expression: re.Pattern[str] | None
    """None for a plain name, and for one that is broken."""
    is_plain: bool

    @classmethod
    def of(cls, text: str) -> _Segment:
        is_plain = _SPECIAL.isdisjoint(text)
        return cls(text, None if is_plain else _expression(text), is_plain)

    def matches(self, element: str) -> bool:
        """Whether a name is like it; one that is broken matches nothing."""
        if self.expression is None:
            return self.is_plain and element == self.text
        return len(element) <= _LONGEST_NAME and self.expression.fullmatch(element) is not None


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One line of one file."""

    domain: _Parts
    """The directory that holds the file: the pattern never applies outside."""
    segments: tuple[_Segment, ...]
    is_negated: bool
    is_anchored: bool
    is_directory: bool

    @classmethod
    def of(cls, domain: _Parts, line: str) -> _Pattern:
        text = line.removeprefix("!")
        body = text.removesuffix("/")
        segments = tuple(map(_Segment.of, body.split("/")))
        return cls(domain, segments, line != text, "/" in body, body != text)

    def matches(self, path: _Parts) -> bool:
        if path[: len(self.domain)] != self.domain:
            return False
        below = path[len(self.domain) :]
        return self._leads(below) if self.is_anchored else self._names(below)

    def _names(self, elements: _Parts) -> bool:
        """Whether an element matches the pattern; a pattern of a directory does not match the last one, a file."""
        found = next((at for at, element in enumerate(elements) if self.segments[0].matches(element)), None)
        return found is not None and not (self.is_directory and found == len(elements) - 1)

    def _leads(self, elements: _Parts) -> bool:
        """Whether a beginning of the path matches all segments, each at the first place where it can."""
        at, is_matched, may_skip = 0, False, False
        for index, segment in enumerate(self.segments):
            if segment.text == _ANY_DEPTH:
                may_skip = index < len(self.segments) - 1
            elif not segment.text:
                may_skip = False
            elif _ANY_DEPTH in segment.text or at >= len(elements):
                return False
            else:
                ahead = range(at, len(elements) if may_skip else at + 1)
                place = next((number for number in ahead if segment.matches(elements[number])), None)
                if place is None:
                    return False
                at, is_matched, may_skip = place + 1, True, False
        return is_matched and not (self.is_directory and at == len(elements))


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
        """Whether a file is excluded. Directories are not pruned: a negated pattern can include a single file again."""
        parts = tuple(path.split("/"))
        if parts[-1] == NAME:
            return True
        deciding = next((pattern for pattern in reversed(self.patterns) if pattern.matches(parts)), None)
        return deciding is not None and not deciding.is_negated


_TOKEN: Final = re.compile(
    r"(?P<any>\*+)|(?P<one>\?)|\[(?P<not>\^?)(?P<set>(?:(?:\\.|[^]\\-])(?:-(?:\\.|[^]\\-]))?)+)\]"
    r"|\\(?P<escaped>.)|(?P<text>[^[\\])",
    re.DOTALL,
)
_RANGE: Final = re.compile(r"\\?(.)(?:-\\?(.))?", re.DOTALL)


def _expression(pattern: str) -> re.Pattern[str] | None:
    """The pattern as a regular expression; None for one that is broken, which matches nothing."""
    pieces, at = [""], 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None or at > _LONGEST_PATTERN:
            return None
        if token["any"]:
            pieces.append("")
        else:
            pieces[-1] += _translated(token)
        at = token.end()
    return re.compile(_joined(pieces), re.DOTALL)


def _joined(pieces: Sequence[str]) -> str:
    """The pieces, with any text between each and the next, as an expression whose time is linear in the text.

    A piece matches a fixed number of characters. So the first place where one between two stars matches is as good as
    any later one: a group ahead finds it, and the reference to that group never gives it up again.
    """
    first, *rest = pieces
    if not rest:
        return first
    *between, last = rest
    found = (f"(?=(.*?{piece}))\\{number}" for number, piece in enumerate(between, 1))
    return f"{first}{''.join(found)}.*{last}"


def _translated(token: re.Match[str]) -> str:
    if token["one"]:
        return "."
    if token["set"]:
        ranges = [(low, high or low) for low, high in _RANGE.findall(token["set"])]
        members = "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in ranges if low <= high)
        return f"[{token['not']}{members}]" if members else "." if token["not"] else "(?!)"
    return re.escape(token["escaped"] or token["text"])
