"""Which versions lie in a range, and which of two is higher: what `olmf semver` shows."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Final

from shared.domain.semver.blang import parse_range
from shared.domain.semver.masterminds import parse_constraint, parse_loose
from shared.domain.semver.release import build_key, with_build_as_release
from shared.domain.semver.version import InvalidVersion, Version, parse_version


class Dialect(enum.StrEnum):
    """How a range is written."""

    BLANG = "blang"
    """`skipRange` and constraints of OLM v0."""
    MASTERMINDS = "masterminds"
    """`version` of a ClusterExtension."""


class Order(enum.StrEnum):
    """What orders two versions that are equal but for their build metadata."""

    PRECEDENCE = "precedence"
    """Nothing: they are equal."""
    BUILD = "build"
    """The build metadata, compared as a prerelease; none is lowest."""
    RELEASE = "release"
    """The build metadata, which must be a release; none is lowest."""


def members(dialect: Dialect, range_text: str, versions: Iterable[str]) -> dict[str, bool]:
    """Whether each version lies in the range; a text that is no version lies in none. InvalidRange otherwise."""
    desired = parse_range(range_text) if dialect is Dialect.BLANG else parse_constraint(range_text)
    found = {}
    for text in versions:
        try:
            found[text] = read(dialect, text) in desired
        except InvalidVersion:
            found[text] = False
    return found


def read(dialect: Dialect, text: str) -> Version:
    """A version as those who write ranges like this read it. InvalidVersion."""
    return parse_version(text) if dialect is Dialect.BLANG else parse_loose(text)


def compared(
    first: str,
    second: str,
    *,
    order: Order = Order.PRECEDENCE,
    read: Callable[[str], Version] = parse_version,
) -> int:
    """-1, 0 or 1: the first is lower, as high, or higher. InvalidVersion or InvalidRelease when one is neither."""
    one, other = (_KEYS[order](read(text)) for text in (first, second))
    return (one > other) - (one < other)


_KEYS: Final[dict[Order, Callable[[Version], tuple[object, ...]]]] = {
    Order.PRECEDENCE: lambda version: (version,),
    Order.BUILD: build_key,
    Order.RELEASE: lambda version: (with_build_as_release(version),),
}
