"""What every object of a cluster says of itself, whatever its kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self, overload

from shared.api.manifest import ReadOnly


@dataclass(frozen=True, slots=True)
class View:
    """A JSON object, or a part of one, read through typed properties; equal to another view of the same content.

    A property computes its answer when it is asked, and copies nothing.
    """

    raw: ReadOnly
    """The content, which the holder does not change."""

    @classmethod
    def each(cls, raws: Iterable[ReadOnly]) -> tuple[Self, ...]:
        """A view of each."""
        return tuple(map(cls, raws))

    @overload
    @classmethod
    def of(cls, raw: None) -> None: ...
    @overload
    @classmethod
    def of(cls, raw: ReadOnly) -> Self: ...
    @overload
    @classmethod
    def of(cls, raw: ReadOnly | None) -> Self | None: ...
    @classmethod
    def of(cls, raw: ReadOnly | None) -> Self | None:
        """A view of what was found; None of nothing."""
        return None if raw is None else cls(raw)
