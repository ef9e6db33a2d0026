from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from starlette.types import ASGIApp, Message

from eventing.cloudevents import to_request
from eventing.endpoint import QueueUnavailable
from eventing.endpoint.app import asgi
from eventing.endpoint.gate import LARGEST_BODY
from eventing.events import Event
from shared import kinds, names

AN_EVENT = Event("1", names.POKE, "/test", kinds.SUBSCRIPTION.ref("etcd", "olm"))


class Queue:
    """Remembers what it was given, and can be away."""

    def __init__(self, *, is_away: bool = False) -> None:
        self.events: list[Event] = []
        self.is_away = is_away
        self.drained_with: list[int] = []

    def accept(self, events: Sequence[Event]) -> None:
        if self.is_away:
            raise QueueUnavailable("Redis does not answer")
        self.events += events

    def drain(self) -> None:
        self.drained_with.append(len(self.events))


async def ask(
    app: ASGIApp, method: str = "POST", path: str = "/", *, headers: dict[str, str] | None = None, body: bytes = b""
) -> tuple[int, str, dict[str, str]]:
    """One request in, status, text and headers out."""
    raw = [(key.lower().encode(), value.encode()) for key, value in (headers or {}).items()]
    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": raw,
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2),
    }  # fmt: skip
    halves = [body[: len(body) // 2], body[len(body) // 2 :]]
    inbox: list[Message] = [
        {"type": "http.request", "body": half, "more_body": number == 0} for number, half in enumerate(halves)
    ]
    outbox: list[Message] = []

    async def receive() -> Message:
        return inbox.pop(0) if inbox else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        outbox.append(message)

    await app(scope, receive, send)
    text = b"".join(message.get("body", b"") for message in outbox[1:])
    return outbox[0]["status"], text.decode(), _headers(outbox[0]["headers"])


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {key.decode(): value.decode() for key, value in raw}


@pytest.mark.parametrize("structured", [False, True], ids=["binary mode", "structured mode"])
async def test_an_event_is_queued_before_the_answer(structured: bool) -> None:
    queue = Queue()
    headers, body = to_request(AN_EVENT, structured=structured)
    status, text, answered = await ask(asgi(queue.accept), headers=headers, body=body)
    assert queue.events == [AN_EVENT]
    assert (status, text, answered) == (204, "", {}), "a broker takes any body that is no CloudEvent for a failure"


async def test_the_queue_is_drained_after_the_event_went_in() -> None:
    queue = Queue()
    headers, body = to_request(AN_EVENT)
    status, _, _ = await ask(asgi(queue.accept, drain=queue.drain), headers=headers, body=body)
    assert (status, queue.drained_with) == (204, [1])


async def test_a_drain_that_fails_does_not_make_the_sender_repeat_itself() -> None:
    def drain() -> None:
        raise ConnectionError

    queue = Queue()
    headers, body = to_request(AN_EVENT)
    status, _, _ = await ask(asgi(queue.accept, drain=drain), headers=headers, body=body)
    assert (status, len(queue.events)) == (204, 1)


async def test_while_redis_is_away_the_sender_shall_come_again() -> None:
    headers, body = to_request(AN_EVENT)
    status, text, answered = await ask(asgi(Queue(is_away=True).accept), headers=headers, body=body)
    assert (status, text, answered["retry-after"]) == (503, "the event was not queued: Redis does not answer", "1")


@pytest.mark.parametrize(
    ("headers", "body", "want"),
    [
        pytest.param(
            {"content-type": "application/cloudevents-batch+json"},
            b"[]",
            (415, "batch mode is not supported: send each event in a request of its own"),
            id="a batch",
        ),
        pytest.param(
            {**to_request(AN_EVENT)[0], "content-type": "application/json"},
            b"{",
            (400, "the body is not JSON, though its content type says so"),
            id="broken JSON",
        ),
        pytest.param(
            {**to_request(AN_EVENT)[0], "ce-namespace": ""},
            b"",
            (400, "namespace is missing: a Subscription has one"),
            id="an event without a namespace",
        ),
        pytest.param(
            to_request(AN_EVENT)[0],
            b" " * (LARGEST_BODY + 1),
            (413, f"the body has more than {LARGEST_BODY} bytes"),
            id="a body without end",
        ),
    ],
)
async def test_what_is_refused(headers: dict[str, str], body: bytes, want: tuple[int, str]) -> None:
    queue = Queue()
    status, text, _ = await ask(asgi(queue.accept), headers=headers, body=body)
    assert ((status, text), queue.events) == (want, [])


async def test_metrics_are_served_beside_events() -> None:
    status, text, headers = await ask(asgi(Queue().accept, metrics=lambda: "olmf_redis_up 1\n"), "GET", "/metrics")
    assert (status, text) == (200, "olmf_redis_up 1\n")
    assert headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
async def test_health_is_mounted(path: str) -> None:
    assert (await ask(asgi(Queue().accept), "GET", path))[:2] == (200, "ok")


async def test_without_redis_it_lives_but_is_not_ready() -> None:
    app = asgi(Queue().accept, is_ready=lambda: False)
    assert (await ask(app, "GET", "/livez"))[0] == 200
    assert (await ask(app, "GET", "/readyz"))[:2] == (503, "Redis does not answer")
