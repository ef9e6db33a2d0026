"""The range dialect of `skipRange` and `versionRange` (fbc.md §5.4).

A text is cut into words at blanks; a word with a wildcard is spelled out as comparisons with whole versions.
Where the reference is broken (`!=1.x`, `1.x.x`, `! 1.0.0`, an `x` in a prerelease, a doubled `||`) it is mended.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from shared.domain.go.text import quoted
from shared.domain.semver.version import SPACE, InvalidVersion, Version, parse_version, version_or_none

_Test: TypeAlias = Callable[[Version, Version], bool]
_Comparator: TypeAlias = tuple[_Test, Version]
_Clause: TypeAlias = tuple[_Comparator, ...]
"""One of the comparisons holds."""
_Alternative: TypeAlias = tuple[_Clause, ...]
"""All of the clauses hold."""

_TESTS: Final[dict[str, _Test]] = {
    "": operator.eq, "=": operator.eq, "==": operator.eq, "!": operator.ne, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_WORD: Final = re.compile(r"(?:[<>=] *|[^ <>=])+")
_WILD_TWICE: Final = re.compile(r"[0-9]+\.x\.x")
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_INT64_MAX: Final = 2**63 - 1
_LONGEST_NUMBER: Final = 256
"""Digits of a number under a wildcard, zeroes included; conversion takes longer than its square."""
_OR: Final = "||"


class InvalidRange(ValueError):
    """A text is not a version range; the message says which part is wrong."""


@dataclass(frozen=True, slots=True)
class Range:
    """A set of versions: alternatives, each a list of clauses that must all hold."""

    text: str
    alternatives: tuple[_Alternative, ...]

    def __contains__(self, version: Version) -> bool:
        return any(all(_holds(clause, version) for clause in clauses) for clauses in self.alternatives)


@lru_cache(maxsize=16384)
def parse_range(text: str) -> Range:
    """The range that a text states, e.g. `>=1.0.0 <1.2.0 || 2.x`. InvalidRange otherwise."""
    words = _words(text)
    if words and words[0] == _OR:
        raise InvalidRange("First element in range is '||'")
    if not words or words[-1] == _OR:
        raise InvalidRange("Last element in range is '||'")
    parts = list(_parts(words))
    if not all(parts):
        raise InvalidRange(f"Could not parse Range {quoted(text)}: an alternative between two '||' is empty")
    expanded = [[clause for word in part for clause in _expanded(word)] for part in parts]
    return Range(text, tuple(tuple(tuple(map(_comparator, clause)) for clause in part) for part in expanded))


def range_or_none(text: str) -> Range | None:
    """The range that a text states; None for an empty text, and for one that is not a range."""
    try:
        return parse_range(text) if text else None
    except InvalidRange:
        return None


def why_no_range(text: str) -> str:
    """Why a text is not a range, or an empty text."""
    try:
        parse_range(text)
    except InvalidRange as error:
        return str(error)
    return ""


def _holds(clause: _Clause, version: Version) -> bool:
    return any(test(version, bound) for test, bound in clause)


def _words(text: str) -> list[str]:
    """The words of a range. One of a single byte is dropped: published catalogs say `1.0.0 - 2.0.0`."""
    words: list[str] = []
    negated = ""
    for match in _WORD.finditer(text):
        found = match.group()
        if found == "!":
            negated = found
        elif len(found) > 1 or not found.isascii():
            word = found.replace(" ", "")
            words.append(negated + word if "0" <= word[0] <= "9" else word)
            negated = ""
    return words


def _parts(words: list[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for word in words:
        if word == _OR:
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _expanded(word: str) -> list[list[str]]:
    """The clauses that a word stands for, as texts without a wildcard."""
    if "x" not in word:
        return [[word]]
    sign, version = _cut(word)
    if sign in _TESTS and version_or_none(version) is not None:
        return [[word]]
    low, above = _bounds(version.removesuffix(".x") if _WILD_TWICE.fullmatch(version) else version)
    match sign:
        case "" | "=" | "==":
            return [[f">={low}"], [f"<{above}"]]
        case "!" | "!=":
            return [[f"<{low}", f">={above}"]]
        case "<" | ">=":
            return [[sign + low]]
        case "<=" | ">":
            return [[{"<=": "<", ">": ">="}[sign] + above]]
    return [[low]]


def _cut(word: str) -> tuple[str, str]:
    digit = re.search(r"\d", word)
    if digit is None:
        raise InvalidRange(f"Could not get version from string: {quoted(word)}")
    return word[: digit.start()].strip(SPACE), word[digit.start() :]


def _bounds(version: str) -> tuple[str, str]:
    """The lowest version under a wildcard, and the lowest above it (empty when it has no wildcard at its end)."""
    low = version.replace(".x.x", ".x", 1).replace(".x", ".0", 1)
    parts = low.split(".")
    if len(parts) == 2:
        parts.append("0")
        low = ".".join(parts)
    *fixed, last = version.split(".")
    counted = len(fixed) - 1
    if last != "x" or counted not in (0, 1):
        return low, ""
    number = parts[counted]
    if not _INTEGER.fullmatch(number) or len(number) > _LONGEST_NUMBER or int(number) >= _INT64_MAX:
        return low, ""
    parts[counted] = str(int(number) + 1)
    return low, ".".join(parts)


def _comparator(text: str) -> _Comparator:
    sign, version = _cut(text)
    if sign not in _TESTS:
        raise InvalidRange(
            f"Could not parse Range {quoted(text)}: "
            f"Could not parse comparator {quoted(sign)} in {quoted(sign + version)}"
        )
    try:
        return _TESTS[sign], parse_version(version)
    except InvalidVersion as error:
        raise InvalidRange(
            f"Could not parse Range {quoted(text)}: "
            f"Could not parse version {quoted(version)} in {quoted(sign + version)}: {error}"
        ) from error
