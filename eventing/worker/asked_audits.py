"""Audits that somebody asks for: what was lost while events did not come is found now, not at the next turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

import structlog

SECOND_SECONDS: Final = 15.0
"""A second audit is made so long after the first: a source that is back may not watch yet what it is to tell of."""
APART_SECONDS: Final = 5.0
"""Audits are made no sooner one after the other, however often they are asked for."""
log = structlog.get_logger()


class AskedAudits:
    """Whoever asks is not kept waiting; `make_due` is called on and on, by one thread."""

    def __init__(self, audit: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> None:
        """`audit` starts one, and receives an id that no other has; it may raise, and then is called again."""
        self._audit = audit
        self._clock = clock
        self._lock = threading.Lock()
        self._due: tuple[float, ...] = ()
        self._last = float("-inf")

    def ask(self, why: str) -> None:
        """Make one as soon as may be, and one more."""
        log.info("audit_asked", why=why)
        with self._lock:
            now = self._clock()
            self._due = (max(now, self._last + APART_SECONDS), now + SECOND_SECONDS)

    def make_due(self) -> None:
        """Make the one that is due, if one is."""
        with self._lock:
            due, now = self._due, self._clock()
        if not due or due[0] > now:
            return
        self._audit(f"asked-{time.time_ns()}")
        with self._lock:
            self._last = now
            if self._due == due:
                self._due = tuple(at for at in due if at > now)
