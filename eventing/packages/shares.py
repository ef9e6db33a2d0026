"""How much of what is scarce one tenant may take at once; above that, requests are answered with 429."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class TooMany(Exception):
    """Somebody has as many under way as he may."""


class Shares:
    """Counts what is under way. Belongs to one loop."""

    def __init__(self, what: str, *, each: int, together: int) -> None:
        """At most `each` of one tenant, and `together` of all; `what` is counted, in the plural."""
        self._what, self._each, self._together = what, each, together
        self._taken: Counter[str] = Counter()

    @contextmanager
    def one(self, tenant: str) -> Iterator[None]:
        """One more for as long as the block runs. TooMany."""
        if self._taken[tenant] >= self._each:
            raise TooMany(f"{tenant or 'whoever shows tokens'} has {self._each} {self._what} under way")
        if self._taken.total() >= self._together:
            raise TooMany(f"{self._together} {self._what} are under way")
        self._taken[tenant] += 1
        try:
            yield
        finally:
            self._taken[tenant] -= 1
            if not self._taken[tenant]:
                del self._taken[tenant]
