"""The range dialect of a ClusterExtension's `version` (v1.md §15): `~`, `^`, hyphens, wildcards, prerelease gate."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from shared.domain.go.text import quoted
from shared.domain.semver.blang import InvalidRange
from shared.domain.semver.refusals import UINT64_MAX
from shared.domain.semver.version import Identifier, InvalidVersion, Version, bounded

LONGEST_RANGE: Final = 512
"""Bytes of a range."""
LONGEST_VERSION: Final = 256
"""Bytes of a version, in a range or alone."""
MOST_ALTERNATIVES: Final = 32

_BLANK: Final = r"[\t\n\f\r ]"
_TAIL: Final = r"(?:-(?P<pre>[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
_PART: Final = r"[0-9|xX*]+"
# The character class lets a `|` and words such as `1x` pass; they fail when the version itself is read.
_OPERAND: Final = rf"v?(?P<major>{_PART})(?:\.(?P<minor>{_PART}))?(?:\.(?P<patch>{_PART}))?{_TAIL}"
_BARE: Final = re.sub(r"\?P<\w+>", "?:", _OPERAND)
_HYPHEN: Final = re.compile(rf"{_BLANK}*({_BARE}){_BLANK}+-{_BLANK}+({_BARE}){_BLANK}*")
_TERM: Final = re.compile(
    rf"{_BLANK}*(?P<sign>!=|>=|=>|<=|=<|~>|[=><~^]|){_BLANK}*(?P<operand>{_OPERAND})(?P<gap>{_BLANK}*(?:,{_BLANK}*)?)"
)
_LOOSE: Final = re.compile(rf"v?(?P<major>[0-9]+)(?:\.(?P<minor>[0-9]+))?(?:\.(?P<patch>[0-9]+))?{_TAIL}")


class _Wild(enum.Enum):
    """Which part of an operand is the first that is missing or a wildcard."""

    NONE = enum.auto()
    MAJOR = enum.auto()
    MINOR = enum.auto()
    PATCH = enum.auto()


_Test: TypeAlias = Callable[[Version, Version, _Wild], bool]


@dataclass(frozen=True, slots=True)
class _Comparison:
    test: _Test
    base: Version
    wild: _Wild


@dataclass(frozen=True, slots=True)
class Constraint:
    """A set of versions: alternatives, each a list of comparisons that must all hold."""

    text: str
    alternatives: tuple[tuple[_Comparison, ...], ...]

    def __contains__(self, version: Version) -> bool:
        return any(_holds(alternative, version) for alternative in self.alternatives)


@lru_cache(maxsize=4096)
def parse_constraint(text: str) -> Constraint:
    """The range that a text states, e.g. `>=1.11, <1.13 || ~2.1`. InvalidRange otherwise."""
    if len(text.encode(errors="surrogatepass")) > LONGEST_RANGE:
        raise InvalidRange(f"constraint string is too long (max {LONGEST_RANGE} bytes)")
    parts = _without_hyphens(text).split("||")
    if len(parts) > MOST_ALTERNATIVES:
        raise InvalidRange(f"too many constraint groups (max {MOST_ALTERNATIVES})")
    return Constraint(text, tuple(map(_alternative, parts)))


@lru_cache(maxsize=65536)
def parse_loose(text: str) -> Version:
    """The version that a text states in this dialect: `v`, missing parts and leading zeroes are forgiven."""
    match = _LOOSE.fullmatch(text)
    if match is None or len(text) > LONGEST_VERSION:
        raise InvalidVersion(f"{quoted(text)} is not a semantic version")
    numbers = [bounded(match[part] or "0") for part in ("major", "minor", "patch")]
    return _version(numbers, match["pre"] or "", text)


def _without_hyphens(text: str) -> str:
    for match in _HYPHEN.finditer(text):
        text = text.replace(match.group(), f">= {match[1]}, <= {match[2]} ", 1)
    return text


def _alternative(text: str) -> tuple[_Comparison, ...]:
    """The comparisons of one part between `||`, in one pass (a single expression could be made to backtrack)."""
    terms: list[re.Match[str]] = []
    position = 0
    while (term := _TERM.match(text, position)) is not None:
        terms.append(term)
        position, gap = term.end(), term["gap"]
        if position == len(text) and "," not in gap:
            return tuple(map(_comparison, terms))
        if not gap:
            break
    raise InvalidRange(f"improper constraint: {quoted(text)}")


def _comparison(match: re.Match[str]) -> _Comparison:
    wild, expanded = _expanded(match)
    try:
        return _Comparison(_TESTS[match["sign"]], parse_loose(expanded), wild)
    except InvalidVersion as error:
        raise InvalidRange("constraint parser error") from error


def _expanded(match: re.Match[str]) -> tuple[_Wild, str]:
    """The first wildcard of an operand, and the operand with zeroes from there on."""
    numbers = ["0", "0", "0"]
    for index, wild in enumerate((_Wild.MAJOR, _Wild.MINOR, _Wild.PATCH)):
        part = match[wild.name.lower()]
        if part is None or part in {"x", "X", "*"}:
            return wild, ".".join(numbers) + (f"-{match['pre']}" if match["pre"] else "")
        numbers[index] = part
    return _Wild.NONE, match["operand"]


def _version(numbers: list[int], prerelease: str, text: str) -> Version:
    identifiers = tuple(map(_identifier, prerelease.split("."))) if prerelease else ()
    return Version(numbers[0], numbers[1], numbers[2], not prerelease, identifiers, text)


def _identifier(text: str) -> Identifier:
    if text.isdecimal() and text[0] == "0" and len(text) > 1:
        raise InvalidVersion("version segment starts with 0")
    return (0, int(text), "") if text.isdecimal() and int(text) <= UINT64_MAX else (1, 0, text)


def _holds(alternative: tuple[_Comparison, ...], version: Version) -> bool:
    """A prerelease is in only where one operand of the same alternative is a prerelease, too."""
    if not version.is_release and all(comparison.base.is_release for comparison in alternative):
        return False
    return all(comparison.test(version, comparison.base, comparison.wild) for comparison in alternative)


def _equal(version: Version, base: Version, wild: _Wild) -> bool:
    return version == base if wild is _Wild.NONE else _near(version, base, wild)


def _differs(version: Version, base: Version, wild: _Wild) -> bool:
    if wild is _Wild.MINOR:
        return version.major != base.major
    if wild is _Wild.PATCH:
        # `!=4.1-alpha` keeps 4.1.z with another prerelease, or none.
        return _minor_of(version) != _minor_of(base) or version.prerelease != base.prerelease
    return version != base


def _above(version: Version, base: Version, wild: _Wild) -> bool:
    if wild is _Wild.MINOR:
        return version.major > base.major
    if wild is _Wild.PATCH:
        return _minor_of(version) > _minor_of(base)
    return version > base


def _below(version: Version, base: Version, _wild: _Wild) -> bool:
    return version < base


def _from(version: Version, base: Version, _wild: _Wild) -> bool:
    return version >= base


def _up_to(version: Version, base: Version, wild: _Wild) -> bool:
    if wild is _Wild.NONE:
        return version <= base
    if wild is _Wild.MINOR:
        return version.major <= base.major
    return _minor_of(version) <= _minor_of(base)


def _near(version: Version, base: Version, wild: _Wild) -> bool:
    """`~`: the same minor version, or the same major where no minor is given; `~0.0.0` and `~*` take all."""
    if version < base:
        return False
    if (base.major, base.minor, base.patch) == (0, 0, 0) and wild in (_Wild.NONE, _Wild.MAJOR):
        return True
    return version.major == base.major and (wild is _Wild.MINOR or version.minor == base.minor)


def _compatible(version: Version, base: Version, wild: _Wild) -> bool:
    """`^`: nothing left of the first number that is not zero may change."""
    if version < base or version.major != base.major:
        return False
    if base.major > 0 or wild is _Wild.MINOR:
        return True
    if version.minor != base.minor:
        return False
    return base.minor > 0 or wild is _Wild.PATCH or version.patch == base.patch


def _minor_of(version: Version) -> tuple[int, int]:
    return version.major, version.minor


_TESTS: Final[dict[str, _Test]] = {
    "": _equal, "=": _equal, "!=": _differs, ">": _above, "<": _below, ">=": _from, "=>": _from,
    "<=": _up_to, "=<": _up_to, "~": _near, "~>": _near, "^": _compatible,
}  # fmt: skip
