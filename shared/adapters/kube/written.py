"""Whether a client has written to a kind since a moment: what it read meanwhile may be older than that write."""

from __future__ import annotations

from shared.kinds import Kind

MAX_PLACES = 10_000


class Written:
    """The moment of the last write to each kind in each namespace; moments are numbers that only grow."""

    def __init__(self) -> None:
        self._now = 0
        self._forgotten = 0
        """A place that is not known may have been written to until then."""
        self._at: dict[tuple[Kind, str], int] = {}

    def note(self, kind: Kind, namespace: str) -> None:
        """An object of the kind in the namespace is being written."""
        self._now += 1
        if len(self._at) >= MAX_PLACES:
            self._at.clear()
            self._forgotten = self._now
        self._at[kind, namespace] = self._at[kind, ""] = self._now

    def last(self, kind: Kind, namespace: str) -> int:
        """The moment of the last write to the kind in the namespace (empty: in any)."""
        return self._at.get((kind, namespace), self._forgotten)
