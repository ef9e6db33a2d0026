"""What programs note in Redis for each other while runs are traced; each note is forgotten after five minutes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from redis import Redis

SECONDS = 300
"""As long as the scripts remember a trace context (`keys.lua`)."""


class TraceNotes:
    """Trace contexts by the ids of events and the uids of objects, and events whose first run has not begun."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    def note_context(self, causes: Iterable[str], traceparent: str) -> None:
        """These events, or the next events of objects with these uids, belong to that trace."""
        pipe = self._client.pipeline(transaction=False)
        for cause in causes:
            pipe.set(f"olmf:trace:{cause}", traceparent, ex=SECONDS)
        pipe.execute()

    def context_of(self, uids: Sequence[str]) -> str:
        """The first context that was noted for one of these objects; empty without one."""
        found = self._client.mget([f"olmf:trace:{uid}" for uid in uids]) if uids else []
        return next((each.decode() for each in found if isinstance(each, bytes)), "")

    def note_event(self, event_id: str, event: bytes) -> None:
        """An event that may begin a trace."""
        self._client.set(f"olmf:began:{event_id}", event, ex=SECONDS)

    def take_event(self, event_id: str) -> bytes | None:
        """That event for the first who asks, nothing (`b""`) for the others; None when nobody noted it."""
        found = self._client.set(f"olmf:began:{event_id}", b"", xx=True, get=True, keepttl=True)
        return found if isinstance(found, bytes) else None
