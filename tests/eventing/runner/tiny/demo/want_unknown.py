"""Asks for a port that nobody has."""

from __future__ import annotations

from shared.step import NOTHING, Outcome, Ref


class Oracle:
    pass


def want_unknown(ref: Ref, oracle: Oracle) -> Outcome:
    return NOTHING
