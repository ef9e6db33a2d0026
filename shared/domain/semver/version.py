"""Strict semantic versions, ordered by precedence; build metadata does not count (fbc.md §5.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

from shared.domain.go.text import quoted

UINT64_MAX: Final = 2**64 - 1
"""The highest number of a version, and of an identifier that sorts as a number."""
SPACE: Final = " \t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Go trims off a text; `str.strip` alone would take more."""
_NUMERIC: Final = re.compile(r"[0-9]*")
_IDENTIFIER: Final = re.compile(r"[0-9A-Za-z-]*")

Identifier: TypeAlias = tuple[int, int, str]
"""(0, number, "") or (1, 0, text): numbers sort below texts."""


class InvalidVersion(ValueError):
    """A text is not a semantic version; the message says which part is wrong."""


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A semantic version. Two that differ only in build metadata are equal."""

    major: int
    minor: int
    patch: int
    is_release: bool
    """False for a prerelease, which sorts below its release."""
    prerelease: tuple[Identifier, ...]
    text: str = field(compare=False)

    def __str__(self) -> str:
        return self.text

    @property
    def build(self) -> str:
        """The build metadata; empty when there is none."""
        return self.text.partition("+")[2]


@lru_cache(maxsize=65536)
def parse_version(text: str) -> Version:
    """The version that a text states: no leading `v`, no missing parts. InvalidVersion otherwise."""
    if not text:
        raise InvalidVersion("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise InvalidVersion("No Major.Minor.Patch elements found")
    rest, plus, build = parts[2].partition("+")
    patch, minus, prerelease = rest.partition("-")
    major, minor, patch_number = _number("major", parts[0]), _number("minor", parts[1]), _number("patch", patch)
    identifiers = tuple(map(_identifier, prerelease.split("."))) if minus else ()
    if plus:
        check_build(build)
    return Version(major, minor, patch_number, not minus, identifiers, text)


def version_or_none(text: str) -> Version | None:
    """The version that a text states; None when it states none."""
    try:
        return parse_version(text)
    except InvalidVersion:
        return None


def parse_tolerant(text: str) -> Version:
    """The version that a careless text states: spaces, a leading `v`, zeroes and missing parts are forgiven."""
    try:
        return parse_version(text)  # a strict text is the same version when it is forgiven
    except InvalidVersion:
        return parse_version(_forgiven(text))


def _forgiven(text: str) -> str:
    parts = [_without_zeroes(part) for part in text.strip(SPACE).removeprefix("v").split(".", 2)]
    if len(parts) < 3 and set("+-") & set(parts[-1]):
        raise InvalidVersion("Short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, "0", "0"][: max(3, len(parts))])


def prerelease_of(text: str) -> tuple[Identifier, ...]:
    """The identifiers of `alpha.1`, each under the grammar of prereleases. InvalidVersion otherwise."""
    return tuple(map(_identifier, text.split(".")))


def check_build(build: str) -> None:
    """InvalidVersion when a text is no build metadata."""
    for text in build.split("."):
        if not text:
            raise InvalidVersion("Build meta data is empty")
        if not _IDENTIFIER.fullmatch(text):
            raise InvalidVersion(f"Invalid character(s) found in build meta data {quoted(text)}")


def _without_zeroes(part: str) -> str:
    if len(part) < 2:
        return part
    rest = part.lstrip("0")
    return rest if rest[:1] in tuple("0123456789") else "0" + rest


def _number(part: str, text: str) -> int:
    if not _NUMERIC.fullmatch(text):
        raise InvalidVersion(f"Invalid character(s) found in {part} number {quoted(text)}")
    if text[:1] == "0" and len(text) > 1:
        raise InvalidVersion(f"{part.capitalize()} number must not contain leading zeroes {quoted(text)}")
    return bounded(text)


def bounded(digits: str) -> int:
    """The number that digits state. InvalidVersion when there are none, or too many for 64 bits."""
    if not digits:
        raise InvalidVersion('strconv.ParseUint: parsing "": invalid syntax')
    if len(digits.lstrip("0")) > len(str(UINT64_MAX)) or int(digits) > UINT64_MAX:
        raise InvalidVersion(f'strconv.ParseUint: parsing "{digits}": value out of range')
    return int(digits)


def _identifier(text: str) -> Identifier:
    if not text:
        raise InvalidVersion("Prerelease is empty")
    if _NUMERIC.fullmatch(text):
        if text[0] == "0" and len(text) > 1:
            raise InvalidVersion(f"Numeric PreRelease version must not contain leading zeroes {quoted(text)}")
        return (0, bounded(text), "")
    if not _IDENTIFIER.fullmatch(text):
        raise InvalidVersion(f"Invalid character(s) found in prerelease {quoted(text)}")
    return (1, 0, text)
