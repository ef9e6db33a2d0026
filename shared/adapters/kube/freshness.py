"""The minimum resourceVersion of a list: lists contain the writes of this client, without waiting for etcd."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from shared.api.manifest import Manifest, resource_version_of
from shared.kinds import Kind
from shared.resource_versions import is_newer, newer

RESTORED_SECONDS = 60.0
"""How long lists that are older than what was seen are refused: long enough for a server that lags or errs."""


class OlderLists:
    """For how long the lists of one kind have been older than what was seen of it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first = self._last = -math.inf

    def have_lasted(self) -> bool:
        """Note one more; whether they have come for so long, again and again, that the server counts as restored."""
        now = self._clock()
        if now - self._last > RESTORED_SECONDS:  # why: nobody asked meanwhile, and it may have been well in between
            self._first = now
        self._last = now
        return now - self._first > RESTORED_SECONDS

    def end(self) -> None:
        """There was one that is not older."""
        self._last = -math.inf


class Freshness:
    """The newest resourceVersion seen of each kind, by this client.

    With several API servers behind one address a list may be older than the event that enqueued the step; the audit
    finds what is missed this way. With one API server, or after a write of this client, it is not older.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[tuple[str, str], str] = {}
        self._older: dict[tuple[str, str], OlderLists] = {}
        self._lock = threading.Lock()

    def noted(self, answer: Manifest) -> Manifest:
        """The same answer, after its resourceVersion was noted."""
        self._note((str(answer.get("apiVersion")), str(answer.get("kind"))), resource_version_of(answer))
        return answer

    def at_least(self, kind: Kind, version: str) -> None:
        """Accept no older list of the kind: an event reported this resourceVersion."""
        self._note((kind.api_version, kind.kind), version)

    def query(self, kind: Kind) -> dict[str, str]:
        """Query parameters of a list."""
        seen = self.seen(kind) or "0"
        return {"resourceVersion": seen, "resourceVersionMatch": "NotOlderThan"}

    def seen(self, kind: Kind) -> str:
        """The newest resourceVersion of the kind so far; empty when there is none."""
        return self._seen.get((kind.api_version, kind.kind), "")

    def is_older(self, kind: Kind, version: str, seen: str) -> bool:
        """Whether a list is older than what was seen before it was asked for.

        After a minute of such lists the server counts as restored.
        """
        key = (kind.api_version, kind.kind)
        if not is_newer(seen, version):
            self._older.pop(key, None)
            return False
        if self._older.setdefault(key, OlderLists(self._clock)).have_lasted():
            self.forget(kind)
            return False
        return True

    def forget(self, kind: Kind) -> None:
        """Accept any list of the kind: the server was restored from an older state."""
        self._seen.pop((kind.api_version, kind.kind), None)
        self._older.pop((kind.api_version, kind.kind), None)

    def _note(self, key: tuple[str, str], version: str) -> None:
        with self._lock:
            if found := newer(version, self._seen.get(key, "")):
                self._seen[key] = found
