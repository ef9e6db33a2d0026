"""The inputs of a snapshot: the files of a catalog, and an older snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shared.adapters.content.snapshot.reading import Snapshot


@dataclass(frozen=True, slots=True)
class Source:
    """One file of a catalog."""

    path: str
    """Its path inside the catalog."""
    file: Path
    identity: str
    """Equal while the content is the same."""


@dataclass(frozen=True, slots=True)
class Older:
    """A snapshot whose records may be used again, and what it is called in the store."""

    name: str
    snapshot: Snapshot
