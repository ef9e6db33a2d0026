"""How long an answer is waited for, and which requests are sent again: never beyond the time of the run that asks."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

import urllib3
from urllib3.exceptions import MaxRetryError, ReadTimeoutError

CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0

_ANSWER_BY: ContextVar[float] = ContextVar("ANSWER_BY", default=math.inf)
"""When the answers to the requests of this thread have to be there, by the monotonic clock."""


@contextmanager
def answered_within(seconds: float) -> Iterator[None]:
    """Of requests that are made meanwhile none waits for its answer beyond so many seconds from now."""
    before = _ANSWER_BY.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _ANSWER_BY.reset(before)


def seconds_left() -> float:
    """How long an answer may be waited for now; infinite outside a run, and not positive after its end."""
    return _ANSWER_BY.get() - time.monotonic()


def timeout() -> urllib3.Timeout:
    """The bounds of a request that is sent now."""
    left = max(0.001, seconds_left())
    return urllib3.Timeout(connect=min(CONNECT_SECONDS, left), read=min(READ_SECONDS, left))


class Again(urllib3.Retry):
    """Sends a request again, but not after an answer that did not come in time: who hangs would hang again."""

    def increment(self, *request: Any, **outcome: Any) -> Self:
        """The tries that are left. MaxRetryError when it is over."""
        error = outcome.get("error")
        if isinstance(error, ReadTimeoutError) or (error and seconds_left() <= 0):
            raise MaxRetryError(outcome["_pool"], request[1], error) from error
        return super().increment(*request, **outcome)


WRITES = Again(
    total=3, connect=3, read=0, status=0, other=0, redirect=0, backoff_factor=0.05, respect_retry_after_header=False
)
READS = WRITES.new(read=3)
"""A write is repeated only if it was not sent; when the answer is lost, the caller must read what happened."""
