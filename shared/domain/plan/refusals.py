"""The sentence about the rights that a plan lacks: the first refusal as OLM words it, then the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from shared.domain.plan.sentences import besides


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
    return besides(first, [f"{step}: {why}" for why, step in steps.items()])
