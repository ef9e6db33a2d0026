"""Why a text is no strict version, in the words of Go's reader, of the first part that it refuses (fbc.md §5.1).

Which texts are versions is decided by the grammar of semver.org; Go's reader has the same, and numbers of 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from shared.domain.go.text import quoted

UINT64_MAX: Final = 2**64 - 1
"""The highest number of a version, and of an identifier that sorts as a number."""
_NUMERIC: Final = re.compile(r"[0-9]*")
_IDENTIFIER: Final = re.compile(r"[0-9A-Za-z-]*")


def of_version(text: str) -> str:
    """Why a text is not a version; empty when it is one."""
    if not text:
        return "Version string empty"
    parts = text.split(".", 2)
    if len(parts) != 3:
        return "No Major.Minor.Patch elements found"
    return next(filter(None, _of_parts(*parts)), "")


def of_prerelease(text: str) -> str:
    """Why a text, e.g. `alpha.1`, is not a prerelease; empty when it is one."""
    return next(filter(None, map(_of_identifier, text.split("."))), "")


def of_number(digits: str) -> str:
    """Why digits are not a number of 64 bits; empty when they are."""
    if not digits:
        return 'strconv.ParseUint: parsing "": invalid syntax'
    if len(digits.lstrip("0")) > len(str(UINT64_MAX)) or int(digits) > UINT64_MAX:
        return f'strconv.ParseUint: parsing "{digits}": value out of range'
    return ""


def _of_parts(major: str, minor: str, rest: str) -> Iterator[str]:
    version, plus, build = rest.partition("+")
    patch, minus, prerelease = version.partition("-")
    for part, text in (("major", major), ("minor", minor), ("patch", patch)):
        yield _of_part(part, text)
    if minus:
        yield of_prerelease(prerelease)
    if plus:
        yield from map(_of_build, build.split("."))


def _of_part(part: str, text: str) -> str:
    if not _NUMERIC.fullmatch(text):
        return f"Invalid character(s) found in {part} number {quoted(text)}"
    if text[:1] == "0" and len(text) > 1:
        return f"{part.capitalize()} number must not contain leading zeroes {quoted(text)}"
    return of_number(text)


def _of_identifier(text: str) -> str:
    if not text:
        return "Prerelease is empty"
    if _NUMERIC.fullmatch(text):
        if text[0] == "0" and len(text) > 1:
            return f"Numeric PreRelease version must not contain leading zeroes {quoted(text)}"
        return of_number(text)
    if not _IDENTIFIER.fullmatch(text):
        return f"Invalid character(s) found in prerelease {quoted(text)}"
    return ""


def _of_build(text: str) -> str:
    if not text:
        return "Build meta data is empty"
    if not _IDENTIFIER.fullmatch(text):
        return f"Invalid character(s) found in build meta data {quoted(text)}"
    return ""
