"""Counts of delivered changes and of our own writes, by which cached answers stay valid."""

from __future__ import annotations

import secrets
from typing import Any

from eventing.journal.delivered_versions import VERSIONS
from shared.adapters.kube.answers import ChangeCounts
from shared.kinds import Kind, Ref

CHANGES = "olmf:changes:"
"""With `<apiVersion>/<kind>/<namespace>` a Redis hash: `sum` of the weights of all changes there (`stream`), `newest`
resourceVersion among decimal ones, number of `writes` of ours; and of all namespaces, `restored`: which time it was
that the API server went back to an older state. It is gone a day after the last of them: namespaces come and go."""
KEEP_SECONDS = 24 * 60 * 60
"""Longer than an answer is cached (`shared.adapters.kube.answers.GOOD_SECONDS`)."""

_PAGE = 500


class RedisChanges:
    """Implements `Changes` on the Redis of the journal."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def counts(self, kind: Kind, namespace: str) -> ChangeCounts:
        """The counts of the kind in the namespace (empty: in all)."""
        key, *_ = keys_of(kind, namespace)
        answer = self._client.execute_command("HMGET", key, "sum", "newest", "writes", "restored")
        total, newest, writes, restored = answer
        return ChangeCounts(int(total or 0), (newest or b"").decode(), int(writes or 0), (restored or b"").decode())

    def forget(self, kind: Kind) -> None:
        """Forget all events of the kind: the API server was restored, and continues from an older version."""
        which = f"{kind.api_version}/{kind.kind}/*"
        for key in self._client.scan_iter(match=CHANGES + which, count=_PAGE):
            self._client.execute_command("UNLINK", key)
        for ref, _ in self._client.hscan_iter(VERSIONS, match=which, count=_PAGE):
            self._client.execute_command("HDEL", VERSIONS, ref)
        key, *_ = keys_of(kind, "")
        self._client.execute_command("HSET", key, "restored", secrets.token_hex(8))
        self._client.execute_command("EXPIRE", key, KEEP_SECONDS)

    def wrote(self, kind: Kind, namespace: str) -> None:
        """Count a write to an object of the kind in the namespace."""
        pipe = self._client.pipeline(transaction=False)
        for key in keys_of(kind, namespace):
            pipe.execute_command("HINCRBY", key, "writes", 1)
            pipe.execute_command("EXPIRE", key, KEEP_SECONDS)
        pipe.execute()


def keys_of(of: Ref | Kind, namespace: str) -> tuple[str, ...]:
    """The keys of the namespace, and of all namespaces. Names are valid, so none of them contains a separator."""
    return tuple(f"{CHANGES}{of.api_version}/{of.kind}/{each}" for each in dict.fromkeys((namespace, "")))
