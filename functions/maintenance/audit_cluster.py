"""List the watched kinds, and enqueue the steps of every object whose present version was in no event.

Reads:  names and versions of the objects of the watched kinds.
Writes: nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shared import kinds, names
from shared.ports import Inventory, Journal
from shared.step import Emit, Kind, Outcome, Ref


def audit_cluster(_: Ref, inventory: Inventory, journal: Journal) -> Outcome:
    """Emit an event for each object whose change was missed (key: anything)."""
    missed = [ref for identities in _identities(inventory) for ref in journal.unseen(identities)]
    emits = tuple(Emit(names.DEPENDENT_CHANGED, ref) for ref in missed)
    return Outcome(emits=emits, summary=f"missed {len(missed)} changes")


def _identities(inventory: Inventory) -> Iterator[tuple[tuple[Ref, str], ...]]:
    """What exists, kind by kind; definitions come first, because they say which optional kinds are served."""
    yield (definitions := inventory.versions(kinds.CUSTOM_RESOURCE_DEFINITION, labels=None))
    for kind in _served({ref.name for ref, _ in definitions}):
        yield inventory.versions(kind, labels={names.MANAGED: "true"} if kind in kinds.HIGH_CARDINALITY else None)


def _served(definitions: Iterable[str]) -> Iterator[Kind]:
    others = (kind for kind in kinds.WATCHED if kind != kinds.CUSTOM_RESOURCE_DEFINITION)
    return (kind for kind in others if kind not in kinds.OPTIONAL or kind.definition in definitions)
