"""How a run decides again after the API server has refused a write."""

from __future__ import annotations

from dataclasses import replace

from eventing.effects import Performed
from shared.ports import Attempt


def next_attempt(attempt: Attempt, performed: Performed, *, takes_refusals: bool) -> Attempt | None:
    """The attempt with which the step decides again; None when the run ends. A step that takes refusals gets one, once.

    What met another version is looked at again by any step.
    """
    refusal = performed.failure
    if refusal is None or performed.is_lost:
        return None
    if refusal.kind == "conflict" or (refusal.kind == "gone" and not takes_refusals):
        return replace(attempt, conflict=refusal)
    if refusal.kind == "unavailable" or attempt.failure or not takes_refusals:
        return None
    return replace(attempt, failure=refusal, conflict=None, others=performed.others)
