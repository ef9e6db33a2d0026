"""The sentence about the rights that a plan lacks: the first refusal as OLM words it, then the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

MOST_NAMED: Final = 20
"""Refusals that are told besides the first."""
_LONGEST: Final = 500


class Refusal(NamedTuple):
    """A step that may not be carried out."""

    step: str
    """Kind and name."""
    why: str
    """The sentence of the API server."""


def with_others(first: str, others: Iterable[Refusal]) -> str:
    """One sentence; a reason that several steps have is told once, for the first of them."""
    steps: dict[str, str] = {}
    for one in others:
        if one.why not in first:
            steps.setdefault(one.why, one.step)
    if not steps:
        return first
    lines = [f"{step}: {why}"[:_LONGEST] for why, step in steps.items()]
    more = [f"{len(lines) - MOST_NAMED} more"] if len(lines) > MOST_NAMED else []
    return f"{first}; besides: {'; '.join([*lines[:MOST_NAMED], *more])}"
