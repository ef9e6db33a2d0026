"""The fields of Go's types that bundles and their configurations are read by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from shared.domain.go_types.csvtypes import CSV_TYPES
from shared.domain.go_types.definitiontypes import DEFINITION_TYPES
from shared.domain.go_types.podtypes import POD_TYPES

_SINCE_1_36: Final = ("workloadRef:*WorkloadReference", "schedulingGroup:*PodSchedulingGroup")
"""A field of a pod that this release of OLM v1 knows instead of another."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a type."""

    name: str
    type: str
    is_required: bool
    """It is written even when it is empty."""

    @property
    def is_pointer(self) -> bool:
        """Whether absent differs from empty."""
        return self.type.startswith("*")


@cache
def structs() -> Mapping[str, tuple[Field, ...]]:
    """All types, by name."""
    found: dict[str, tuple[Field, ...]] = {}
    text = (POD_TYPES + CSV_TYPES).replace(*_SINCE_1_36) + DEFINITION_TYPES
    for paragraph in filter(None, text.replace("\n  ", " ").splitlines()):
        name, *words = paragraph.split()
        found[name] = tuple(map(_field, words))
    return found


def _field(word: str) -> Field:
    named, _, kind = word.partition(":")
    return Field(named.removesuffix("!"), kind, named.endswith("!"))
