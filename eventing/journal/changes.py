"""Changes that events have told of, and writes of ours: what makes a remembered answer still good."""

from __future__ import annotations

import secrets
from typing import Any

from eventing.events import Event, change_of
from shared.adapters.kube.cached import Told, weight
from shared.kinds import Kind, Ref

SUMS = "olmf:changes"
"""A Redis hash: `<apiVersion>/<kind>/<namespace>` to the sum of the weights of all changes there."""
NEWEST = "olmf:newest"
"""A Redis hash: the same to the resourceVersion of the last change."""
WRITES = "olmf:writes"
"""A Redis hash: the same to the number of writes of ours."""
_UNKNOWN = 2**31


def note(pipe: Any, event: Event) -> None:
    """Add the commands that note an event to a pipeline; one that names no resourceVersion spoils every sum."""
    change = change_of(event.id)
    by = weight(change[1]) if change else secrets.randbelow(_UNKNOWN)
    for namespace in dict.fromkeys((event.ref.namespace, "")):
        place = _place(event.ref, namespace)
        pipe.execute_command("HINCRBY", SUMS, place, by)
        if change and change[1].isdigit():
            pipe.execute_command("HSET", NEWEST, place, change[1])


class RedisChanges:
    """Implements `Changes` on the Redis of the journal."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def told(self, kind: Kind, namespace: str) -> Told:
        """What was told of the kind in the namespace (empty: in all); zeros when nothing was."""
        place = _place(kind.ref("", namespace), namespace)
        pipe = self._client.pipeline(transaction=False)
        pipe.execute_command("HGET", SUMS, place)
        pipe.execute_command("HGET", NEWEST, place)
        pipe.execute_command("HGET", WRITES, place)
        total, newest, writes = (int(answer or 0) for answer in pipe.execute())
        return Told(total, newest, writes)

    def wrote(self, kind: Kind, namespace: str) -> None:
        """Count a write to an object of the kind in the namespace."""
        pipe = self._client.pipeline(transaction=False)
        for where in dict.fromkeys((namespace, "")):
            pipe.execute_command("HINCRBY", WRITES, _place(kind.ref("", where), where), 1)
        pipe.execute()


def _place(ref: Ref, namespace: str) -> str:
    return f"{ref.api_version}/{ref.kind}/{namespace}"
