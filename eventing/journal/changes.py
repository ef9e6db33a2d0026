"""Sums of the changes that events have told of, per kind and namespace: what makes a remembered answer still good."""

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
        total, newest = pipe.execute()
        return Told(int(total or 0), int(newest or 0))


def _place(ref: Ref, namespace: str) -> str:
    return f"{ref.api_version}/{ref.kind}/{namespace}"
