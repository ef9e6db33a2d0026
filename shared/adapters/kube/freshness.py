"""The minimum resourceVersion of a list: lists contain the writes of this client, without waiting for etcd."""

from __future__ import annotations

from shared.api.manifest import Manifest, version_of
from shared.kinds import Kind


class Freshness:
    """The newest resourceVersion seen of each kind, by this client.

    With several API servers behind one address a list may be older than the event that rang the step; the audit finds
    what is missed this way. With one API server, or after a write of this client, it is not older.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], int] = {}

    def noted(self, answer: Manifest) -> Manifest:
        """The same answer, after its resourceVersion was noted."""
        version = version_of(answer)
        if version.isdigit():  # otherwise the version cannot be compared, and any list is accepted
            key = (str(answer.get("apiVersion")), str(answer.get("kind")))
            self._seen[key] = max(int(version), self._seen.get(key, 0))
        return answer

    def at_least(self, kind: Kind, version: int) -> None:
        """Accept no older list of the kind: an event reported this resourceVersion."""
        key = (kind.api_version, kind.kind)
        self._seen[key] = max(version, self._seen.get(key, 0))

    def query(self, kind: Kind) -> dict[str, str]:
        """Query parameters of a list."""
        seen = self._seen.get((kind.api_version, kind.kind), 0)
        return {"resourceVersion": str(seen), "resourceVersionMatch": "NotOlderThan"}

    def forget(self, kind: Kind) -> None:
        """Accept any list of the kind: the server may have been restored from an older state."""
        self._seen.pop((kind.api_version, kind.kind), None)
