"""Checks requests before the function, and answers an accepted event with 204 and nothing else.

Refused are those whose sender is not known, that the framework would accept or refuse without a reason, and those that
would take more memory or time than there is for all together: nothing is read of a request that has no place.

A subscriber of a Knative broker answers with a CloudEvent or with no body at all; the broker takes any other body, and
so the framework's `OK`, for a failure, and delivers the event again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eventing.endpoint.senders import Authentication, Senders
from eventing.events.cloudevents import framing_defects
from shared import names

LARGEST_BODY = 4 * 1024 * 1024
"""Bytes; an object in etcd has at most 1.5 MiB."""
IS_TRUSTED: ContextVar[bool] = ContextVar("is_trusted", default=False)
"""Whether the sender of the present request is one that we know."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What all requests together may take."""

    body_seconds: float = 10.0
    """How long a body may take to come in."""
    bodies_bytes: int = 16 * 1024 * 1024
    """Size of all bodies that come in or are worked on; one without a stated length counts as the largest."""
    requests: int = 64
    """How many events are received at the same time."""


class _Refused(Exception):
    """The request is answered with this status and sentence."""

    def __init__(self, status: int, why: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(why)
        # why: the rest of the body is not read, so the connection cannot be used again
        self.answer = PlainTextResponse(why, status, {**(headers or {}), "Connection": "close"})


class _Gone(Exception):
    """The sender went away; there is nobody to answer."""


class Gate:
    """ASGI middleware: checks sender and size, reads the body within a deadline, and checks whether it is an event."""

    def __init__(self, app: ASGIApp, senders: Senders, limits: Limits | None = None) -> None:
        self._app = app
        self._senders = senders
        self._limits = limits or Limits()
        self._bytes = self._requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request, and pass it on when it is valid."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        try:
            await self._received(headers, scope, receive, send)
        except _Refused as refused:
            await refused.answer(scope, receive, send)
        except _Gone:
            return

    async def _received(self, headers: Mapping[str, str], scope: Scope, receive: Receive, send: Send) -> None:
        if self._requests >= self._limits.requests:
            raise _busy(f"{self._requests} events are being received")
        self._requests += 1
        size = 0
        try:
            IS_TRUSTED.set(_admitted(await self._senders.judge(headers)))
            size = self._reserved(_size(headers))
            body = await self._body(receive)
            if defects := tuple(framing_defects(headers, body)):
                is_batch = headers.get("content-type", "").startswith("application/cloudevents-batch")
                raise _Refused(415 if is_batch else 400, "; ".join(defects))
            await self._app(scope, _replayed(body), _without_body(send))
        finally:
            self._requests -= 1
            self._bytes -= size

    def _reserved(self, size: int) -> int:
        """The place of a body among all bodies, kept until its request is answered."""
        if self._bytes + size > self._limits.bodies_bytes:
            raise _busy(f"the bodies that come in have {self._bytes} bytes already")
        self._bytes += size
        return size

    async def _body(self, receive: Receive) -> bytes:
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                return await _body(receive)
        except TimeoutError:
            raise _Refused(408, f"the body did not come in within {self._limits.body_seconds:g} s") from None


def _admitted(authentication: Authentication) -> bool:
    """Whether the sender is trusted; refused is who is not known although senders can be."""
    if authentication == "refused":
        expected = f"the header `Authorization: Bearer TOKEN` or the attribute `{names.KNOWN_BY}`"
        raise _Refused(401, f"the sender is not known: wanted {expected}", {"WWW-Authenticate": "Bearer"})
    if authentication == "later":
        raise _busy("the API server does not say whether it knows the token")
    return authentication == "trusted"


def _busy(why: str) -> _Refused:
    return _Refused(503, f"{why}: send it again", {"Retry-After": "1"})


def _size(headers: Mapping[str, str]) -> int:
    """The stated length of the body, or that of the largest."""
    length = headers.get("content-length", "")
    size = int(length) if length.isascii() and length.isdecimal() and len(length) < 20 else LARGEST_BODY
    if size > LARGEST_BODY:
        raise _too_large()
    return size


def _too_large() -> _Refused:
    return _Refused(413, f"the body has more than {LARGEST_BODY} bytes")


async def _body(receive: Receive) -> bytes:
    chunks, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > LARGEST_BODY:
            raise _too_large()
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)


def _replayed(body: bytes) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body}]

    async def receive() -> Message:
        return messages.pop() if messages else {"type": "http.disconnect"}

    return receive


def _without_body(send: Send) -> Send:
    """A sender that makes an empty 204 of each answer that accepts."""
    is_accepted = False

    async def sent(message: Message) -> None:
        nonlocal is_accepted
        if message["type"] == "http.response.start" and 200 <= message["status"] < 300:
            is_accepted = True
            message = {"type": "http.response.start", "status": 204, "headers": []}
        elif is_accepted:
            message = {"type": "http.response.body"}
        await send(message)

    return sent
