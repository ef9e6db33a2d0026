"""The endpoint as an ASGI application."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from types import SimpleNamespace
from typing import TypeAlias

import structlog
from cloudevents.http import CloudEvent
from functions_framework import aio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from eventing.endpoint.gate import IS_TRUSTED, Gate, Limits
from eventing.endpoint.senders import Senders
from eventing.events.cloudevents import InvalidEventError, event_of
from eventing.events.event import Event
from eventing.metrics.exposition import Exposition, exposition
from shared import names

Accept: TypeAlias = Callable[[Sequence[Event]], None]
Drain: TypeAlias = Callable[[], None]
RETRY_AFTER_SECONDS = "1"
log = structlog.get_logger()


def asgi(
    accept: Accept,
    *,
    drain: Drain | None = None,
    senders: Senders | None = None,
    limits: Limits | None = None,
    metrics: Callable[[str], Exposition] = lambda accept: exposition({}, accept),
    on_start: Callable[[], None] | None = None,
    is_ready: Callable[[], bool] = lambda: True,
) -> Starlette:
    """The application: `POST /` receives an event, `GET /livez` and `/readyz` are the probes, `/metrics` is a text.

    It is ready while `is_ready` says so: while it can queue an event. It lives as long as it answers. Only the
    sender of an event must be known.
    """

    def receive(cloud: CloudEvent) -> None:
        try:
            event = event_of(cloud, trusted=IS_TRUSTED.get())
        except InvalidEventError as error:
            raise HTTPException(400, str(error)) from error
        try:
            if event.type != names.WORK_READY:  # which tells of no object
                accept((event,))
        except QueueUnavailable as error:
            raise HTTPException(
                503, f"the event was not queued: {error}", {"Retry-After": RETRY_AFTER_SECONDS}
            ) from error
        if drain is not None:
            _drain(drain)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        if on_start is not None:
            on_start()
        yield

    gate = Gate(_function(receive), senders or Senders(), limits)
    routes = [*_plain(metrics, is_ready), Mount("/", gate)]
    return Starlette(routes=routes, lifespan=lifespan)


def _plain(metrics: Callable[[str], Exposition], is_ready: Callable[[], bool]) -> list[Route]:
    """The probes and the metrics."""

    async def readyz(_: Request) -> PlainTextResponse:
        if await asyncio.to_thread(is_ready):  # not in the threads of events, which may all wait for Redis
            return PlainTextResponse("ok")
        return PlainTextResponse("Redis does not answer", 503)

    def measure(request: Request) -> PlainTextResponse:
        answer = metrics(request.headers.get("Accept", ""))
        return PlainTextResponse(answer.text, headers={"Content-Type": answer.content_type})

    return [Route("/livez", _well), Route("/readyz", readyz), Route("/metrics", measure)]


async def _well(_: Request) -> PlainTextResponse:
    return PlainTextResponse("ok")


def _function(receive: Callable[[CloudEvent], None]) -> ASGIApp:
    """The functions-framework application of one CloudEvent function."""
    module = SimpleNamespace(receive=receive)
    app: ASGIApp = aio.create_asgi_app_from_module("receive", __file__, "cloudevent", module, None)
    return app


def _drain(drain: Drain) -> None:
    """Run the queued jobs; the event is stored already, so a failure here is not reported to its sender."""
    try:
        drain()
    except Exception as error:  # noqa: BLE001  # why: after any error the jobs stay queued and are run later
        log.warning("drain_failed", error=f"{type(error).__name__}: {error}")


class QueueUnavailable(Exception):
    """The event could not be queued; the sender should retry."""
