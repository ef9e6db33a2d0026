"""The workers that RQ knows, for people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from redis import Redis

_PREFIX = "rq:worker:"
_QUEUE = "olmf"
"""Begins the names of the RQ queues of all lanes."""


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A process that runs steps."""

    name: str
    lane: str
    """`direct` (which also runs `bulk`) or `long`."""
    since: datetime | None
    """When it started."""
    heard: datetime | None
    """When RQ last heard of it."""


def workers(client: Redis) -> tuple[WorkerState, ...]:
    """The workers by name; one that was killed is listed until RQ forgets it, after a minute and a half."""
    keys = sorted(key.decode() for key in client.sscan_iter("rq:workers"))
    pipe = client.pipeline(transaction=False)
    for key in keys:
        pipe.hmget(key, "queues", "birth", "last_heartbeat")
    found = []
    for key, fields in zip(keys, pipe.execute(), strict=True):
        queues, birth, heard = ((value or b"").decode() for value in fields)
        if queues.startswith(_QUEUE):
            lane = queues.removeprefix(_QUEUE).lstrip("-") or "direct"
            found.append(WorkerState(key.removeprefix(_PREFIX), lane, _instant(birth), _instant(heard)))
    return tuple(found)


def _instant(text: str) -> datetime | None:
    """The time that RQ wrote, in UTC."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None
