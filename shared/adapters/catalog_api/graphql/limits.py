"""How much one query may ask for (v1.md §7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
)

MOST_DEEP: Final = 10
MOST_ALIASES: Final = 50
MOST_FIELDS: Final = 500


class TooComplexError(ValueError):
    """A query asks for too much."""


def check(document: DocumentNode) -> None:
    """Refuse a query beyond any limit; a fragment counts once for each operation. TooComplexError."""
    fragments = {one.name.value: one for one in document.definitions if isinstance(one, FragmentDefinitionNode)}
    count = _Count(fragments)
    for one in document.definitions:
        if isinstance(one, OperationDefinitionNode):
            count.seen.clear()
            count.walk(one.selection_set, 1)


class _Count:
    """What was met so far."""

    def __init__(self, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self._fragments = fragments
        self._aliases = self._fields = 0
        self.seen: set[str] = set()

    def walk(self, found: SelectionSetNode | None, depth: int) -> None:
        """Count what is selected, and what is inside."""
        if found is None:
            return
        if depth > MOST_DEEP:
            raise TooComplexError(f"query exceeds maximum depth of {MOST_DEEP}")
        for one in found.selections:
            if isinstance(one, FieldNode):
                self._add(one)
            self.walk(self._inside(one), depth + 1)

    def _add(self, field: FieldNode) -> None:
        self._fields += 1
        self._aliases += field.alias is not None
        if self._fields > MOST_FIELDS:
            raise TooComplexError(f"query exceeds maximum field count of {MOST_FIELDS}")
        if self._aliases > MOST_ALIASES:
            raise TooComplexError(f"query exceeds maximum alias count of {MOST_ALIASES}")

    def _inside(self, selection: SelectionNode) -> SelectionSetNode | None:
        if not isinstance(selection, FragmentSpreadNode):
            return getattr(selection, "selection_set", None)
        name = selection.name.value
        if name in self.seen or name not in self._fragments:
            return None
        self.seen.add(name)
        return self._fragments[name].selection_set
