"""A request for a package, and its refusal."""

from __future__ import annotations

from dataclasses import dataclass


class PackageError(Exception):
    """The request is not possible; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Request:
    """A package to install in a namespace."""

    package: str
    namespace: str
    channel: str = ""
    source: str = ""
    """`namespace/name` of the CatalogSource; empty: the only one in sight, or the one that has the package."""
    starting_csv: str = ""
    is_manual: bool = False
