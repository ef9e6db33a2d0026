"""Checks requests before the function, and answers an accepted event with 204 and nothing else.

A subscriber of a Knative broker answers with a CloudEvent or with no body at all; the broker takes any other body, and
so the framework's `OK`, for a failure, and delivers the event again.
"""

from __future__ import annotations

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eventing.cloudevents import framing_defects

LARGEST_BODY = 4 * 1024 * 1024
"""Bytes; an object in etcd has at most 1.5 MiB."""


class Gate:
    """ASGI middleware: reads the body up to the limit, and checks whether the request can be an event."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request, and pass it on when it is valid."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = await _body(receive)
        if body is None:
            answer = PlainTextResponse(f"the body has more than {LARGEST_BODY} bytes", 413)
            await answer(scope, receive, send)
            return
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        if defects := tuple(framing_defects(headers, body)):
            is_batch = headers.get("content-type", "").startswith("application/cloudevents-batch")
            await PlainTextResponse("; ".join(defects), 415 if is_batch else 400)(scope, receive, send)
            return
        await self._app(scope, _replayed(body), _without_body(send))


async def _body(receive: Receive) -> bytes | None:
    """The whole body; None when it is too large."""
    chunks, size = [], 0
    while True:
        message = await receive()
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > LARGEST_BODY:
            return None
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
