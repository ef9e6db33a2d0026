"""resourceVersions are opaque texts; only two decimal ones of the same kind have an order, at any length."""

from __future__ import annotations

import re
import zlib
from typing import TypeAlias

Order: TypeAlias = tuple[int, str]
"""What a version is compared by with others of the same kind: its length, then itself."""
_DECIMAL = re.compile("[1-9][0-9]*")


def order_of(version: str) -> Order | None:
    """By what a version is sorted among those of its kind; None for one that is not a decimal number."""
    return (len(version), version) if _DECIMAL.fullmatch(version) else None


def is_newer(one: str, other: str) -> bool:
    """Whether one version is certainly newer than the other; never for versions that are not decimal numbers."""
    first, second = order_of(one), order_of(other)
    return first is not None and second is not None and first > second


def newer(one: str, other: str) -> str:
    """The newer of two versions; the one that is a decimal number, or else nothing, when they have no order."""
    if not order_of(other):
        return one if order_of(one) else ""
    return one if is_newer(one, other) else other


def weight(version: str, *, is_gone: bool = False) -> int:
    """A number for the sum of changes that were told of; what it says of the version is only which one it is.

    A deletion may be told of with the last version that was seen, and is another change than that version.
    """
    return zlib.crc32(f"{version}{' gone' * is_gone}".encode(errors="surrogatepass")) + 1
