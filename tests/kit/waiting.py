"""The one way to wait for what another thread or process makes true."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_SECONDS = 120.0
"""A bound against hanging, not a measure: a test never fails because a machine is slow."""
LOOK_SECONDS = 0.01

Answer = TypeVar("Answer")


def wait_for(ask: Callable[[], Answer], what: str = "", *, seconds: float = PATIENCE_SECONDS) -> Answer:
    """Ask again and again; the first answer that counts as true. AssertionError with `what` and the last answer."""
    deadline = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < deadline, f"{what or 'it'} did not happen within {seconds} s; last seen: {answer!r}"
        time.sleep(LOOK_SECONDS)
    return answer
