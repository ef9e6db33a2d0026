"""Which resourceVersion a list of a kind must not be older than: read your writes, without waiting for etcd."""

from __future__ import annotations

from shared.api.manifest import Manifest, version_of
from shared.kinds import Kind


class Freshness:
    """The newest resourceVersion seen of each kind, by this client.

    A list may be older than the event that woke the reader where several API servers stand behind one address; the
    audit rings for what was missed so. With one API server, or after a write of our own, it is not.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], int] = {}

    def noted(self, answer: Manifest) -> Manifest:
        """The same answer, after its resourceVersion was noted."""
        version = version_of(answer)
        if version.isdigit():  # other servers may count otherwise; then a list is simply what the cache has
            key = (str(answer.get("apiVersion")), str(answer.get("kind")))
            self._seen[key] = max(int(version), self._seen.get(key, 0))
        return answer

    def at_least(self, kind: Kind, version: int) -> None:
        """Somebody else has seen this resourceVersion of the kind."""
        key = (kind.api_version, kind.kind)
        self._seen[key] = max(version, self._seen.get(key, 0))

    def query(self, kind: Kind) -> dict[str, str]:
        """Query parameters of a list."""
        seen = self._seen.get((kind.api_version, kind.kind), 0)
        return {"resourceVersion": str(seen), "resourceVersionMatch": "NotOlderThan"}

    def forget(self, kind: Kind) -> None:
        """Start again: the server may have been restored from an older state."""
        self._seen.pop((kind.api_version, kind.kind), None)
