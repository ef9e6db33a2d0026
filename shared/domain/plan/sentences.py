"""Several findings in one sentence, which stays short however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MOST_NAMED: Final = 20
"""Findings that are told besides the first."""
LONGEST: Final = 500
"""Characters of each of them."""
_LONGEST_FIRST: Final = 4000


def besides(first: str, others: Sequence[str], *, count: int | None = None) -> str:
    """The first finding as it is worded, then the others; `count` says how many these are, if more than are given."""
    shown = first if len(first) <= _LONGEST_FIRST else f"{first[:_LONGEST_FIRST]} …"
    lines = [one[:LONGEST] for one in others[:MOST_NAMED]]
    left = (len(others) if count is None else count) - len(lines)
    more = [f"{left} more"] if left else []
    return f"{shown}; besides: {'; '.join([*lines, *more])}" if lines else shown
