"""Changes that events have told of, and writes of ours: what makes a remembered answer still good."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

from eventing.events import Event, change_of
from shared.adapters.kube.cached import Told, weight
from shared.kinds import Kind, Ref

CHANGES = "olmf:changes:"
"""With `<apiVersion>/<kind>/<namespace>` a Redis hash: `sum` of the weights of all changes there, `newest`
resourceVersion, number of `writes` of ours. It is gone a day after the last of them: namespaces come and go."""
_KEEP_SECONDS = 24 * 60 * 60
"""Longer than anybody believes what was read at the sum of then (`shared.adapters.kube.cached.GOOD_SECONDS`)."""
_UNKNOWN = 2**31


def note(pipe: Any, event: Event) -> None:
    """Add the commands that note an event to a pipeline; one that names no resourceVersion spoils every sum."""
    change = change_of(event.id)
    by = weight(change[1]) if change else secrets.randbelow(_UNKNOWN)
    for key in _keys(event.ref, event.ref.namespace):
        pipe.execute_command("HINCRBY", key, "sum", by)
        if change and change[1].isdigit():
            pipe.execute_command("HSET", key, "newest", change[1])
        pipe.execute_command("EXPIRE", key, _KEEP_SECONDS)


class RedisChanges:
    """Implements `Changes` on the Redis of the journal."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def told(self, kind: Kind, namespace: str) -> Told:
        """What was told of the kind in the namespace (empty: in all); zeros when nothing was."""
        key, *_ = _keys(kind, namespace)
        return Told(*(int(each or 0) for each in self._client.execute_command("HMGET", key, "sum", "newest", "writes")))

    def wrote(self, kind: Kind, namespace: str) -> None:
        """Count a write to an object of the kind in the namespace."""
        pipe = self._client.pipeline(transaction=False)
        for key in _keys(kind, namespace):
            pipe.execute_command("HINCRBY", key, "writes", 1)
            pipe.execute_command("EXPIRE", key, _KEEP_SECONDS)
        pipe.execute()


def _keys(of: Ref | Kind, namespace: str) -> Iterator[str]:
    """Of the namespace, and of all together."""
    for place in dict.fromkeys((namespace, "")):
        yield f"{CHANGES}{of.api_version}/{of.kind}/{place}"
