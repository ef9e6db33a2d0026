"""An event that may begin a trace, from the program that received it to the first run that it causes."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from eventing.events.event import Event
from eventing.workqueue.trace_notes import TraceNotes

EMPTY = b""


class NotedEvent(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What the span of an event needs."""

    id: str
    type: str
    source: str
    ref: str
    at: int
    """When it was received, nanoseconds since the epoch."""


_decoder = msgspec.json.Decoder(NotedEvent)


def noting(notes: TraceNotes, now: Callable[[], int] = time.time_ns) -> Callable[[Event], None]:
    """A function that notes events."""

    def note(event: Event) -> None:
        noted = NotedEvent(event.id, event.type, event.source, str(event.ref), now())
        notes.note_event(event.id, msgspec.json.encode(noted))

    return note


def noted(found: bytes) -> NotedEvent | None:
    """The event that `TraceNotes.take_event` returned; None when another run has taken it."""
    return _decoder.decode(found) if found != EMPTY else None
