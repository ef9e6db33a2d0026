"""Whether a list that is older than what was seen is to be believed: the API server was restored, or errs for a while.

To believe a list that lacks objects means to tell everybody that they are gone. So an older one is asked for again,
until it is certain that the server has an older state: an object that was seen in a later version has an older one
now, or such lists have come for a minute. While an object is there in its later version, none is believed.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

import structlog

from shared.adapters.kube.freshness import RESTORED_SECONDS, OlderLists
from shared.resource_versions import is_newer, order_of

WITNESSES = 5
"""How many of the objects that were seen last are asked for."""
log = structlog.get_logger()


class Known(Protocol):
    """The objects that were seen of a kind."""

    @property
    def has_any(self) -> bool:
        """Whether there are any, whatever their versions look like."""
        ...

    def newest(self, most: int) -> Iterable[tuple[tuple[str, str], str]]:
        """(namespace, name) and version of those that changed last, the newest first."""
        ...


def newest_of(versions: Iterable[tuple[tuple[str, str], str]], most: int) -> list[tuple[tuple[str, str], str]]:
    """Of (namespace, name) and version of objects those that changed last, the newest first; of those with an order."""
    placed = ((order, key) for key, version in versions if (order := order_of(version)))
    return [(key, version) for (_, version), key in heapq.nlargest(most, placed)]


class Restored:
    """When an object proved that the API server has an older state; the watches of a process share it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._until = 0.0

    def note(self) -> None:
        """There is a proof."""
        self._until = self.clock() + RESTORED_SECONDS

    @property
    def is_proven(self) -> bool:
        """Whether there was one lately: kinds have their resourceVersions of the same store."""
        return self.clock() < self._until


class Judge:
    """Judges the older lists of one kind."""

    def __init__(self, known: Known, version_of: Callable[[str, str], Awaitable[str]], restored: Restored) -> None:
        """`version_of` asks the API server for the resourceVersion of an object; empty when it is absent."""
        self._known = known
        self._version_of = version_of
        self._restored = restored
        self._lists = OlderLists(restored.clock)

    async def believes(self, position: str) -> bool:
        """Whether a list of that version, which is older than what was seen, tells the truth."""
        if self._restored.is_proven:
            return True
        for (namespace, name), version in self._known.newest(WITNESSES):
            if not is_newer(version, position):
                break
            if now := await self._version_of(namespace, name):
                return self._heard(position, now)
        return self._lists.have_lasted()

    @property
    def has_seen_any(self) -> bool:
        """Whether there are objects to lose."""
        return self._known.has_any

    def refuted(self) -> None:
        """There was a list that is not older."""
        self._lists.end()

    def _heard(self, position: str, now: str) -> bool:
        if is_newer(now, position):
            self._lists.end()
            return False
        self._restored.note()
        return True
