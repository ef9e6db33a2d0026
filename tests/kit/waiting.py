"""The one way to wait for what another thread or process makes true, and to bound what something costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

PATIENCE_SECONDS = 120.0
"""A bound against hanging, not a measure: a test never fails because a machine is slow."""
POLL_SECONDS, LONGEST_POLL_SECONDS = 0.01, 0.2
"""The first pause between two questions, and the longest: who asks a server needs its processor, too."""
_SHARE = 1 / 20
"""Of the time that was waited already, which a pause may add."""

Answer = TypeVar("Answer")


def wait_for(ask: Callable[[], Answer], what: str = "", *, seconds: float = PATIENCE_SECONDS) -> Answer:
    """Ask again and again; the first answer that counts as true. AssertionError with `what` and the last answer."""
    started = time.monotonic()
    while not (answer := ask()):
        waited = time.monotonic() - started
        assert waited < seconds, f"{what or 'it'} did not happen within {seconds} s; last seen: {answer!r}"
        time.sleep(pause_after(waited))
    return answer


def pause_after(waited: float) -> float:
    """How long to pause before the next question: the longer the wait, the less a little more of it matters."""
    return min(max(POLL_SECONDS, waited * _SHARE), LONGEST_POLL_SECONDS)


@contextmanager
def costing_at_most(seconds: float, why: str = "") -> Iterator[None]:
    """The block takes less processor time of this process: a bound far above what it needs, below what is wrong."""
    started = time.process_time()
    yield
    took = time.process_time() - started
    assert took < seconds, f"took {took:.1f} s of the processor; {why}"
