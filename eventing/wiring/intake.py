"""What takes events: journal first, then the queue."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from eventing.events.event import Event
from eventing.events.trace import begun_by
from eventing.journal import JournalFiles, RedisJournal
from eventing.routes import jobs_for
from eventing.tracing.noted_events import noting
from eventing.workqueue import Addition, WorkQueue, connect
from eventing.workqueue.trace_notes import TraceNotes
from shared.config import Settings


def sink(
    values: Settings, *, most: int = 0, needs_no_repetition: Callable[[Event], bool] = lambda _: False
) -> Callable[[Sequence[Event]], None]:
    """A function that writes events to the journal and adds their jobs to the queue, durably when it returns.

    It raises QueueFull when `most` jobs of their namespace wait already (0: any number may wait). An event that
    `needs_no_repetition` adds no jobs when an earlier one was about the same version of its object.
    """
    client = connect(values.redis_url)
    queue = WorkQueue(client, values)
    journal = RedisJournal(client, max_bytes=values.journal_bytes, also=journal_files(values, "events"))
    note = noting(TraceNotes(client)) if values.traces else None

    unfinished = set[str]()
    """Events that need no repetition, and may be noted without their jobs in the queue: Redis refused."""

    def accept(events: Sequence[Event]) -> None:
        ids = {event.id for event in events if needs_no_repetition(event)}
        retried = ids & unfinished
        unfinished.update(ids)
        needed = [
            event
            for event, is_new in zip(events, journal.record_events(events), strict=True)
            if is_new or event.id in retried or event.id not in ids
        ]
        additions = [addition(event) for event in needed]
        for event, added in zip(needed, additions, strict=True):
            if note and added.jobs and not added.trace:
                note(event)
        queue.add_each(additions, most=most)
        unfinished.difference_update(ids)

    return accept


def addition(event: Event) -> Addition:
    """The jobs of an event, as the queue takes them; a watch event has no trace of its own."""
    trace = "" if event.traceparent == begun_by(event.id) else event.traceparent
    return Addition(tuple(jobs_for(event)), event.id, trace)


def journal_files(values: Settings, program: str) -> Callable[[bytes], None]:
    """A function that writes journal entries to files; each thread has its own files."""
    if not values.journal_files:
        return lambda _: None
    name = f"{program}-{socket.gethostname()}-{threading.get_native_id()}"
    return JournalFiles(Path(values.journal_files), name).append
