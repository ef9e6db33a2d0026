"""The release of a bundle: which build of one version it is (fbc.md §5.2)."""

from __future__ import annotations

import re
from typing import Final

from shared.domain.gotext import quoted

LONGEST: Final = 20
"""Bytes of a release."""
_PART: Final = re.compile(r"[0-9A-Za-z-]+")
_TOO_LARGE: Final = 2**64


def why_not(text: str) -> str:
    """Why a text is no release, or an empty text; no text is no release, which is well."""
    if not text:
        return ""
    if len(text.encode()) > LONGEST:
        return f"invalid release {quoted(text)}: exceeds maximum length of {LONGEST} characters"
    wrong = [f"segment {index}: {why}" for index, part in enumerate(text.split(".")) if (why := _wrong_part(part))]
    return f"invalid release {quoted(text)}: " + "\n".join(wrong) if wrong else ""


def _wrong_part(part: str) -> str:
    if not part:
        return "Prerelease is empty"
    if not _PART.fullmatch(part):
        return f"Invalid character(s) found in prerelease {quoted(part)}"
    if part.isdigit() and part[0] == "0" and len(part) > 1:
        return f"Numeric PreRelease version must not contain leading zeroes {quoted(part)}"
    if part.isdigit() and int(part) >= _TOO_LARGE:
        return f"strconv.ParseUint: parsing {quoted(part)}: value out of range"
    return ""
