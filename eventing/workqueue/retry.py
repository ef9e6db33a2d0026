"""The back-off after a failed run: exponential, bounded, with jitter."""

from __future__ import annotations

from datetime import timedelta

FIRST = timedelta(milliseconds=250)
"""The wait after the first failure, unless the step states one."""
LONGEST = timedelta(minutes=5)
"""The maximum to which a wait grows; a step may ask for a longer one."""


def backoff(failures: int, random: float, *, first: timedelta = FIRST) -> timedelta:
    """The wait after that many failures in a row (1, 2, …); `random` in [0, 1) spreads it over the upper half.

    A step that asks for `first` never waits less than that: its jitter is added, not taken away. A `first` of almost
    nothing is honoured once.
    """
    if failures > 1:
        first = max(first, FIRST)
    if first >= LONGEST:
        return first * (1 + random / 10)
    # The exponent is bounded because 2**1024 is not a float; the wait has reached its maximum long before.
    grown = min(first * int(2 ** min(max(failures, 1) - 1, 30)), LONGEST)
    return max(grown * (0.5 + random / 2), first * (1 + random / 10))
