"""Strict semantic versions, ordered by precedence; build metadata does not count (fbc.md §5.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

_UINT64: Final = 2**64 - 1
_NUMERIC: Final = re.compile(r"[0-9]*")
_IDENTIFIER: Final = re.compile(r"[0-9A-Za-z-]*")

_Identifier: TypeAlias = tuple[int, int, str]
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
    prerelease: tuple[_Identifier, ...]
    text: str = field(compare=False)

    def __str__(self) -> str:
        return self.text


@lru_cache(maxsize=65536)
def parse(text: str) -> Version:
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
        _check_build(build)
    return Version(major, minor, patch_number, not minus, identifiers, text)


def _number(part: str, text: str) -> int:
    if not text or not _NUMERIC.fullmatch(text):
        raise InvalidVersion(f'Invalid character(s) found in {part} number "{text}"')
    if text[0] == "0" and len(text) > 1:
        raise InvalidVersion(f'{part.capitalize()} number must not contain leading zeroes "{text}"')
    return _bounded(text)


def _bounded(text: str) -> int:
    if len(text) > len(str(_UINT64)) or int(text) > _UINT64:
        raise InvalidVersion(f'"{text}": value out of range')
    return int(text)


def _identifier(text: str) -> _Identifier:
    if not text:
        raise InvalidVersion("Prerelease is empty")
    if _NUMERIC.fullmatch(text):
        if text[0] == "0" and len(text) > 1:
            raise InvalidVersion(f'Numeric PreRelease version must not contain leading zeroes "{text}"')
        return (0, _bounded(text), "")
    if not _IDENTIFIER.fullmatch(text):
        raise InvalidVersion(f'Invalid character(s) found in prerelease "{text}"')
    return (1, 0, text)


def _check_build(build: str) -> None:
    for text in build.split("."):
        if not text:
            raise InvalidVersion("Build meta data is empty")
        if not _IDENTIFIER.fullmatch(text):
            raise InvalidVersion(f'Invalid character(s) found in build meta data "{text}"')
