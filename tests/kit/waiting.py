"""The one way to wait for what another thread or process makes true, and to bound what something costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

PATIENCE_SECONDS = 120.0
"""A bound against hanging, not a measure: a test never fails because a machine is slow."""
POLL_SECONDS = 0.01

Answer = TypeVar("Answer")


def wait_for(ask: Callable[[], Answer], what: str = "", *, seconds: float = PATIENCE_SECONDS) -> Answer:
    """Ask again and again; the first answer that counts as true. AssertionError with `what` and the last answer."""
    deadline = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < deadline, f"{what or 'it'} did not happen within {seconds} s; last seen: {answer!r}"
        time.sleep(POLL_SECONDS)
    return answer


@contextmanager
def costing_at_most(seconds: float, why: str = "") -> Iterator[None]:
    """The block takes less processor time of this process: a bound far above what it needs, below what is wrong."""
    started = time.process_time()
    yield
    took = time.process_time() - started
    assert took < seconds, f"took {took:.1f} s of the processor; {why}"
