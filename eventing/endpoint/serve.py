"""`olmf run endpoint`: listens until it is ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from eventing.events.event import Event
from shared.config import Settings

if TYPE_CHECKING:
    from eventing.endpoint.senders import Senders


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
