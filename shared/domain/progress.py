"""How far a long run is, as it is told to people and kept in the queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Progress:
    """What a run has done of an image, and of its time."""

    attempt: int = 1
    seconds: int = 0
    limit_seconds: int = 0
    phase: str = ""
    """`pulling` or `indexing`; empty: it has not begun, or does something else."""
    bytes: int = 0
    bytes_total: int = 0
    """Of all layers, compressed; 0 while the manifest is not here yet."""
    layers: int = 0
    """Read to the end."""
    layers_total: int = 0
    packages: int = 0
    """Indexed."""

    def __str__(self) -> str:
        attempt = f", attempt {self.attempt}" if self.attempt > 1 else ""
        return f"{self.done}, after {self.seconds} of at most {self.limit_seconds} s{attempt}"

    @property
    def done(self) -> str:
        """What is done, in words."""
        if self.phase == "indexing":
            return f"indexing, {self.packages} packages so far"
        if not self.bytes_total:
            return "waiting for the registry" if self.phase == "pulling" else "running"
        size = f"{_megabytes(self.bytes)} of {_megabytes(self.bytes_total)} MB"
        return f"pulling, {size} and {self.layers} of {self.layers_total} layers so far"


def _megabytes(size: int) -> str:
    return f"{size / _MEGABYTE:.1f}" if size < 10 * _MEGABYTE else f"{size // _MEGABYTE}"
