"""List the watched kinds, and enqueue the steps of every object whose present version was in no event.

Reads:  names and versions of the objects of the watched kinds.
Writes: nothing.
"""

from __future__ import annotations

from shared import kinds, names
from shared.ports import Inventory, Journal
from shared.step import Emit, Kind, Outcome, Ref


def audit_cluster(_: Ref, inventory: Inventory, journal: Journal) -> Outcome:
    """Emit an event for each object whose change was missed (key: anything)."""
    missed = [ref for kind in kinds.WATCHED for ref in journal.unseen(inventory.versions(kind, labels=_labels(kind)))]
    emits = tuple(Emit(names.DEPENDENT_CHANGED, ref) for ref in missed)
    return Outcome(emits=emits, summary=f"missed {len(missed)} changes")


def _labels(kind: Kind) -> dict[str, str] | None:
    return {names.MANAGED: "true"} if kind in kinds.HIGH_CARDINALITY else None
