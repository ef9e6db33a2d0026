"""The platforms that an image runs on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Platform(NamedTuple):
    """An operating system and an architecture, as Go names them: `linux`, `arm64`."""

    os: str
    architecture: str

    def __str__(self) -> str:
        return f"{self.os}/{self.architecture}"


Platforms: TypeAlias = tuple[Platform, ...]
"""In the order in which the image lists them, each once."""


@dataclass(frozen=True, slots=True)
class NotInspected:
    """The registry of an image was asked, and did not name its platforms."""

    why: str
    is_missing: bool = False
    """Whether the registry has no such image."""
