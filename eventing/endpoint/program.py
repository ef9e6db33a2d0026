"""The process of the endpoint."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator, Sequence

import uvicorn

from eventing.endpoint.app import Accept, Drain, QueueUnavailable, asgi
from eventing.endpoint.connections import BoundedProtocol
from eventing.endpoint.senders import Senders
from eventing.events.event import Event
from eventing.metrics import work as work_metrics
from eventing.metrics.exposition import exposition
from eventing.metrics.listener import address_of, listener
from eventing.workqueue import REFUSED, UNREACHABLE, QueueFull, answering, is_paused
from shared.config import Settings

GRACE_SECONDS = 10
"""How long running requests may still take after SIGTERM."""


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGTERM and exit with 0; uvicorn itself would raise the signal again."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


def listen(
    settings: Settings,
    accept: Accept,
    *,
    drain: Drain | None = None,
    senders: Senders | None = None,
    on_ready: Callable[[str, str], None] | None = None,
) -> None:
    """Listen on `settings.port` (0: any) until SIGTERM.

    `accept` queues durably, or raises QueueUnavailable (or the queue's exception when Redis is away or full); `drain`
    runs the queued jobs before the answer; `senders` knows who may send; `on_ready` receives the address and the URL of
    the probe.
    """
    listening = listener(settings)
    address = address_of(listening)

    def started() -> None:
        if on_ready is not None:
            on_ready(address, f"{address}/livez")

    work = work_metrics.reader(settings)
    app = asgi(
        speaking_our_errors(accept),
        drain=drain,
        senders=senders,
        metrics=lambda accept: exposition(work(), accept),
        on_start=started,
        is_ready=answering(settings.redis_url),
    )
    config = uvicorn.Config(
        app, http=BoundedProtocol, log_config=None, access_log=False, timeout_graceful_shutdown=GRACE_SECONDS
    )
    with listening:
        asyncio.run(_Server(config).serve(sockets=[listening]))


def speaking_our_errors(accept: Accept) -> Accept:
    """The same, which tells a sender by QueueUnavailable to come again where the queue takes nothing at present."""

    def accepted(events: Sequence[Event]) -> None:
        try:
            accept(events)
        except QueueFull as error:
            raise QueueUnavailable(str(error)) from error
        except UNREACHABLE as error:
            raise QueueUnavailable(f"Redis does not answer ({error})") from error
        except REFUSED as error:
            if not is_paused(error):
                raise
            raise QueueUnavailable(f"Redis accepts no changes ({error})") from error

    return accepted
