"""What a user asks for, and why not."""

from __future__ import annotations

from dataclasses import dataclass


class PackageError(Exception):
    """What was asked for is not possible; the sentence says why and what to do."""


@dataclass(frozen=True, slots=True)
class Request:
    """A package that somebody wants in a namespace."""

    package: str
    namespace: str
    channel: str = ""
    source: str = ""
    """`namespace/name` of the CatalogSource; empty: the only one in sight, or the one that has the package."""
    starting_csv: str = ""
    is_manual: bool = False
