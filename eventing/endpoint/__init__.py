"""Takes CloudEvents over HTTP: a functions-framework function, with limits in front and health beside it.

Answers: 200 when the event's jobs are durably queued (on Knative: and drained), 400, 413 or 415 with one sentence for
each defect of what is no event for us, 503 while the queue is away. A sender that retries on 5xx, as a Broker does,
loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eventing.endpoint.sender import EndpointError, send
from eventing.events import Event
from shared.config import Settings

__all__ = ["EndpointError", "QueueUnavailable", "send", "serve"]


class QueueUnavailable(Exception):
    """The event could not be queued; the sender shall try again."""


def serve(
    settings: Settings,
    accept: Callable[[Sequence[Event]], None],
    *,
    drain: Callable[[], None] | None = None,
    on_ready: Callable[[str, str], None] | None = None,
) -> None:
    """Listen on `settings.port` (0: any) until SIGTERM.

    `accept` queues durably, or raises QueueUnavailable (or what the queue raises when Redis is away); `drain` works the
    queue off before the answer; `on_ready` gets the address and the URL of the probe.
    """
    from eventing.endpoint.program import listen  # why: who only sends does not pay for the server, 300 ms

    listen(settings, accept, drain=drain, on_ready=on_ready)
