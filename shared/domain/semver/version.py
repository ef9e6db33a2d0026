"""Strict semantic versions, ordered by precedence; build metadata does not count (fbc.md §5.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

import semver

from shared.domain.semver import refusals
from shared.domain.semver.refusals import UINT64_MAX

SPACE: Final = " \t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Go trims off a text; `str.strip` alone would take more."""

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
    try:
        found = semver.Version.parse(text)
        numbers = found.major, found.minor, found.patch
        prerelease = _identifiers(found.prerelease) if found.prerelease else ()
    except ValueError as error:
        raise InvalidVersion(refusals.of_version(text)) from error
    if max(numbers) > UINT64_MAX or (prerelease and any(number > UINT64_MAX for _, number, _ in prerelease)):
        raise InvalidVersion(refusals.of_version(text))
    return Version(*numbers, not prerelease, prerelease, text)


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
    """The identifiers of `alpha.1`, under the grammar of prereleases. InvalidVersion otherwise."""
    if refusal := refusals.of_prerelease(text):
        raise InvalidVersion(refusal)
    return _identifiers(text)


def bounded(digits: str) -> int:
    """The number that digits state. InvalidVersion when there are none, or too many for 64 bits."""
    if refusal := refusals.of_number(digits):
        raise InvalidVersion(refusal)
    return int(digits)


def _identifiers(prerelease: str) -> tuple[Identifier, ...]:
    return tuple((0, int(text), "") if text.isdecimal() else (1, 0, text) for text in prerelease.split("."))


def _without_zeroes(part: str) -> str:
    if len(part) < 2:
        return part
    rest = part.lstrip("0")
    return rest if rest[:1] in tuple("0123456789") else "0" + rest
