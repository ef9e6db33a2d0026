"""A lock that any number hold side by side, or one alone."""

from __future__ import annotations

import threading


class SharedLock:
    """Who wants it alone waits for those who hold it, and for nobody who comes later."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holders = 0
        self._alone = 0
        """How many want it alone, or have it so."""

    @property
    def wants_to_be_alone(self) -> bool:
        """Whether somebody has it alone, or waits for that."""
        return self._alone > 0

    def wait_until_shared(self, seconds: float) -> None:
        """Wait until nobody has it alone nor waits for that, at most so long."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone, seconds)

    def take(self, *, alone: bool) -> None:
        """Wait until it can be held."""
        with self._changed:
            self._alone += alone
            self._changed.wait_for(lambda: not self._holders if alone else not self._alone)
            self._holders += 1

    def give_back(self, *, alone: bool) -> None:
        """Let others have it."""
        with self._changed:
            self._holders -= 1
            self._alone -= alone
            self._changed.notify_all()
