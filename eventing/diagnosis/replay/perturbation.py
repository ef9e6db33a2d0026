"""Which events of a recording come otherwise in a replayed world: lost, twice, out of order, or late."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

Kind: TypeAlias = Literal["drop", "duplicate", "reorder", "delay"]
KINDS: tuple[Kind, ...] = get_args(Kind)
WORDS = {"drop": "lost", "duplicate": "delivered twice", "reorder": "out of order", "delay": "late"}
"""What happened to an event, by kind of perturbation."""


@dataclass(frozen=True, slots=True)
class Perturbation:
    """What happens to the events of some changes; an event is called by the place of its change, counted from 0."""

    kind: Kind
    places: frozenset[int]

    def times(self, place: int) -> int:
        """How often the event is delivered at once."""
        if place not in self.places:
            return 1
        return 2 if self.kind == "duplicate" else 0

    def late(self, places: range) -> list[int]:
        """The events of a burst that are delivered at its end, in their order."""
        held = [place for place in places if place in self.places]
        match self.kind:
            case "delay":
                return held
            case "reorder":
                return held[::-1]
        return []

    def lost(self, places: range) -> list[int]:
        """The events of a burst that are never delivered, and that the audit finds."""
        return [place for place in places if place in self.places] if self.kind == "drop" else []


def drawn(kind: Kind, count: int, seed: int) -> Perturbation:
    """A perturbation of about half of `count` events; the same for the same seed."""
    rng = random.Random(f"{kind} {seed}")  # noqa: S311  # why: a choice of tests, no secret
    return Perturbation(kind, frozenset(place for place in range(count) if rng.random() < 1 / 2))
