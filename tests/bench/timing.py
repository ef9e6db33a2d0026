"""How long something takes, whatever else the machine does."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Final

ROUNDS: Final = 5


def best(act: Callable[[], object], *, clock: Callable[[], float] = time.process_time, rounds: int = ROUNDS) -> float:
    """Seconds of the fastest of a few rounds, by the processor time of this process unless another clock is given."""
    seconds = []
    for _ in range(rounds):
        started = clock()
        act()
        seconds.append(clock() - started)
    return min(seconds)


def of_children() -> float:
    """A clock of the processor time of processes that have ended: what one takes that has the machine to itself."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
