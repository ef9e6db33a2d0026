"""Decides nothing."""

from __future__ import annotations

from shared.step import NOTHING, Outcome, Ref


def do_nothing(ref: Ref) -> Outcome:
    return NOTHING
