"""resourceVersions are opaque texts; only two decimal ones of the same kind have an order, at any length."""

from __future__ import annotations

import re
import zlib

_DECIMAL = re.compile("[1-9][0-9]*")


def is_newer(one: str, other: str) -> bool:
    """Whether one version is certainly newer than the other; never for versions that are not decimal numbers."""
    if not (_DECIMAL.fullmatch(one) and _DECIMAL.fullmatch(other)):
        return False
    return (len(one), one) > (len(other), other)


def newer(one: str, other: str) -> str:
    """The newer of two versions; the one that is a decimal number, or else nothing, when they have no order."""
    if not _DECIMAL.fullmatch(other):
        return one if _DECIMAL.fullmatch(one) else ""
    return one if is_newer(one, other) else other


def weight(version: str) -> int:
    """A number for the sum of changes that were told of; what it says of the version is only which one it is."""
    return zlib.crc32(version.encode(errors="surrogatepass")) + 1
