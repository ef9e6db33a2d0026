"""Counts of delivered changes and of our own writes, by which cached answers stay valid."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from eventing.journal.delivered_versions import VERSIONS
from shared.adapters.kube.answers import ChangeCounts, Place
from shared.kinds import Kind, Ref

if TYPE_CHECKING:  # why: the queue imports the Redis client, which a replay does not need
    from eventing.workqueue import Claim

CHANGES = "olmf:changes:"
"""With `<apiVersion>/<kind>/<namespace>` (of definitions: their API group) a Redis hash: `sum` of the weights of all
changes there (`stream`), `newest` resourceVersion among decimal ones, number of `writes` of ours (of `finish.lua`: of
runs that wrote) and of each worker among them, `writes:<worker>`; and of all namespaces, `restored`: which time it was
that the API server went back to an older state. It is gone a day after the last of them: namespaces come and go."""
READS = "olmf:reads:"
"""With a step a Redis set: which of these its runs ask for, without the prefix; a day after the last was added it is
learned anew."""
KEEP_SECONDS = 24 * 60 * 60
"""Longer than an answer is cached (`shared.adapters.kube.answers.GOOD_SECONDS`)."""

_PAGE = 500


class RedisChanges:
    """Implements `Changes` on the Redis of the journal."""

    def __init__(self, client: Any, worker: str = "") -> None:
        """`worker` is who writes here: its own writes are none of others."""
        self._client = client
        self._own = f"writes:{worker}"
        self._expected: deque[tuple[str, str]] = deque()

    def counts(self, places: Sequence[Place]) -> tuple[ChangeCounts, ...]:
        """The counts of each kind in its namespace (empty: in all), in one round trip."""
        pipe = self._client.pipeline(transaction=False)
        for kind, namespace in places:
            key, *_ = keys_of(kind, namespace)
            pipe.execute_command("HMGET", key, "sum", "newest", "writes", self._own, "restored")
        while self._expected:
            step, place = self._expected.popleft()
            pipe.execute_command("SADD", READS + step, place)
            pipe.execute_command("EXPIRE", READS + step, KEEP_SECONDS)
        return tuple(map(_counts, pipe.execute()[: len(places)]))

    def expect(self, step: str, kind: Kind, namespace: str) -> None:
        """After the next `counts`, the claim of a run of the step brings these (`OWN`: of the namespace of the run)."""
        self._expected.append((step, f"{kind.api_version}/{kind.kind}/{namespace}"))

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
        """Count a write to an object of the kind in the namespace; those of a run are counted when it ends."""
        pipe = self._client.pipeline(transaction=False)
        for key in keys_of(kind, namespace):
            pipe.execute_command("HINCRBY", key, "writes", 1)
            pipe.execute_command("HINCRBY", key, self._own, 1)
            pipe.execute_command("EXPIRE", key, KEEP_SECONDS)
        pipe.execute()


def reported_to(claim: Claim) -> dict[tuple[str, str, str], ChangeCounts]:
    """What a claim brings, by apiVersion, kind and namespace."""
    found = {}
    for key, *counts in claim.reported:
        api_version, kind, namespace = (key or b"").decode().removeprefix(CHANGES).rsplit("/", 2)
        found[api_version, kind, namespace] = _counts(counts)
    return found


def _counts(answer: Sequence[bytes | None]) -> ChangeCounts:
    total, newest, writes, own, restored = answer
    by_others = int(writes or 0) - int(own or 0)
    return ChangeCounts(int(total or 0), (newest or b"").decode(), by_others, (restored or b"").decode())


def keys_of_all(places: Iterable[Place]) -> tuple[str, ...]:
    """The keys of the namespaces, and of all namespaces, each once."""
    return tuple(dict.fromkeys(key for kind, namespace in places for key in keys_of(kind, namespace)))


def keys_of(of: Ref | Kind, namespace: str) -> tuple[str, ...]:
    """The keys of the place (`place_of`), and of all places. Names are valid, so none of them contains a separator."""
    return tuple(f"{CHANGES}{of.api_version}/{of.kind}/{each}" for each in dict.fromkeys((namespace, "")))
