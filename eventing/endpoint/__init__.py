"""Receives CloudEvents over HTTP: a functions-framework function, with size limits and health probes.

Answers: an empty 204 when the event's jobs are durably queued (on Knative one request waits, for half a minute at most,
until the jobs of all have run), 400, 413 or 415 with one sentence for each defect of an invalid event, 401 to a sender
that is not known, 408 for a body that does not come in, 503 while Redis is away or full, or too much comes in at once.
A sender that retries on 5xx, as a Broker does, loses no event. Who may send, and the limits: `senders`, `gate`,
`connections`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from eventing.endpoint.sender import EndpointError, send
from eventing.events import Event
from shared.config import Settings

if TYPE_CHECKING:
    from eventing.endpoint.senders import Senders

__all__ = ["EndpointError", "QueueUnavailable", "send", "serve"]


class QueueUnavailable(Exception):
    """The event could not be queued; the sender should retry."""


def serve(
    settings: Settings,
    accept: Callable[[Sequence[Event]], None],
    *,
    drain: Callable[[], None] | None = None,
    senders: Senders | None = None,
    on_ready: Callable[[str, str], None] | None = None,
) -> None:
    """Listen on `settings.port` (0: any) until SIGTERM.

    `accept` queues durably, or raises QueueUnavailable (or the queue's exception when Redis is away or full); `drain`
    runs the queued jobs before the answer; `senders` knows who may send; `on_ready` receives the address and the URL of
    the probe.
    """
    from eventing.endpoint.program import listen  # why: the import takes 300 ms, which senders do not need

    listen(settings, accept, drain=drain, senders=senders, on_ready=on_ready)
