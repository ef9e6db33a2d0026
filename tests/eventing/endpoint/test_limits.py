"""What senders can take of an endpoint: memory, time and connections have bounds, and others are served meanwhile."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import urllib3
from starlette.types import Message, Scope

from eventing.endpoint import connections
from eventing.endpoint.gate import LARGEST_BODY, Gate, Limits
from eventing.endpoint.senders import Senders
from eventing.events.cloudevents import to_request
from eventing.events.event import Event
from shared import kinds, names
from tests.kit.endpoint import Endpoint, running_endpoint
from tests.kit.waiting import PATIENCE_SECONDS, wait_for

AN_EVENT = to_request(Event("1", names.ADDED, "/test", kinds.SUBSCRIPTION.ref("etcd", "olm")))
MIB = 1024 * 1024


@pytest.fixture
def endpoint(redis_url: str, tmp_path: Path) -> Iterator[Endpoint]:
    with running_endpoint(redis_url, tmp_path) as found:
        yield found


def connected(endpoint: Endpoint, stack: ExitStack) -> socket.socket:
    place = urlsplit(endpoint.address)
    return stack.enter_context(socket.create_connection((place.hostname, place.port), timeout=PATIENCE_SECONDS))


def sends(line: socket.socket, body: bytes, length: int) -> None:
    """The head of an event and the beginning of its body; a sender that is cut off does not mind."""
    head = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n"
    attributes = "".join(f"{key}: {value}\r\n" for key, value in AN_EVENT[0].items())
    try:
        line.sendall(f"{head}{attributes}\r\n".encode() + body)
    except (ConnectionError, TimeoutError):
        return


def status_of(line: socket.socket) -> int:
    """The status of the answer; 0 when the connection was cut without one."""
    try:
        output = line.recv(4096)
    except ConnectionError:
        return 0
    return int(output.split()[1]) if output else 0


def accepts(endpoint: Endpoint) -> int:
    headers, body = AN_EVENT
    return urllib3.request(
        "POST", endpoint.address, headers=headers, body=body, timeout=PATIENCE_SECONDS, retries=False
    ).status


def test_unfinished_bodies_take_no_more_than_their_share(endpoint: Endpoint) -> None:
    """120 of 4 MiB less ten bytes: four have a place at a time, the others hear 503, and all end."""
    assert accepts(endpoint) == 204
    before = endpoint.memory
    with ExitStack() as stack:
        lines = [connected(endpoint, stack) for _ in range(120)]
        for line in lines:
            sends(line, b"x" * (LARGEST_BODY - 10), LARGEST_BODY)
        assert endpoint.memory - before < 48 * MIB, "16 MiB of bodies, and what the sockets hold"
        assert urllib3.request("GET", f"{endpoint.address}/livez", timeout=PATIENCE_SECONDS).status == 200
        output = {status_of(line) for line in lines}
    assert {408, 503} <= output <= {408, 503, 0}
    assert accepts(endpoint) == 204


def test_a_small_event_has_a_place_beside_slow_ones(endpoint: Endpoint) -> None:
    with ExitStack() as stack:
        for _ in range(3):
            sends(connected(endpoint, stack), b"x", LARGEST_BODY)
        assert accepts(endpoint) == 204


BEGUN = (b"", b"POST / HTTP/1.1\r\nHost: x\r\n", b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /livez HT")
"""Nothing, half of a head, and half of a second head."""


def test_a_connection_without_a_request_ends(endpoint: Endpoint) -> None:
    with ExitStack() as stack:
        lines = [connected(endpoint, stack) for _ in BEGUN]
        for line, text in zip(lines, BEGUN, strict=True):
            line.sendall(text)
        for line in lines:
            while line.recv(4096):
                pass


def test_half_open_connections_keep_nobody_out(endpoint: Endpoint) -> None:
    with ExitStack() as stack:
        lines = [connected(endpoint, stack) for _ in range(connections.MOST + 100)]
        assert accepts(endpoint) == 204

        def left() -> int:
            return sum(_is_open(line) for line in lines)

        wait_for(lambda: left() <= connections.MOST)
        wait_for(lambda: left() == 0, "the end of them all")
        assert accepts(endpoint) == 204


def _is_open(line: socket.socket) -> bool:
    line.setblocking(False)
    try:
        return bool(line.recv(1))
    except BlockingIOError:
        return True
    except OSError:
        return False


class Requests:
    """Requests to a gate that are answered when they are told to be."""

    def __init__(self, limits: Limits) -> None:
        self.go = asyncio.Event()
        self.inside = 0
        self.gate = Gate(self._app, Senders(), limits)

    async def _app(self, scope: Scope, receive: object, send: object) -> None:
        self.inside += 1
        await self.go.wait()
        self.inside -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore[operator]  # as ASGI has it
        await send({"type": "http.response.body", "body": b"OK"})  # type: ignore[operator]

    async def ask(self, *chunks: Message, length: int | None = None) -> tuple[int, dict[str, str]]:
        """Status and headers; 0 without an answer. After the last chunk nothing comes."""
        headers = AN_EVENT[0] | ({} if length is None else {"content-length": str(length)})
        raw = [(key.lower().encode(), value.encode()) for key, value in headers.items()]
        inbox = list(chunks)
        outbox: list[Message] = []

        async def receive() -> Message:
            if not inbox:
                await asyncio.Event().wait()
            return inbox.pop(0)

        async def send(message: Message) -> None:
            outbox.append(message)

        await self.gate({"type": "http", "method": "POST", "headers": raw}, receive, send)
        if not outbox:
            return 0, {}
        return outbox[0]["status"], {key.decode(): value.decode() for key, value in outbox[0]["headers"]}


def a_body(text: bytes = b"", *, more: bool = False) -> Message:
    return {"type": "http.request", "body": text, "more_body": more}


async def test_a_body_has_a_deadline() -> None:
    requests = Requests(Limits(body_seconds=0.05))
    status, headers = await requests.ask(a_body(b"x", more=True), length=10)
    assert (status, headers["connection"]) == (408, "close")


async def test_bodies_keep_their_place_until_they_are_answered() -> None:
    requests = Requests(Limits(bodies_bytes=100))
    first = asyncio.create_task(requests.ask(a_body(), length=60))
    while not requests.inside:
        await asyncio.sleep(0)
    assert (await requests.ask(a_body(), length=60))[0] == 503
    requests.go.set()
    assert (await first)[0] == 204
    assert (await requests.ask(a_body(), length=60))[0] == 204


async def test_a_body_without_a_length_counts_as_the_largest() -> None:
    requests = Requests(Limits(bodies_bytes=LARGEST_BODY - 1))
    requests.go.set()
    assert (await requests.ask(a_body()))[0] == 503
    assert (await requests.ask(a_body(), length=5))[0] == 204


async def test_too_many_events_at_once_shall_come_again() -> None:
    requests = Requests(Limits(requests=1))
    first = asyncio.create_task(requests.ask(a_body(), length=0))
    while not requests.inside:
        await asyncio.sleep(0)
    status, headers = await requests.ask(a_body(), length=0)
    assert (status, headers["retry-after"]) == (503, "1")
    requests.go.set()
    assert (await first)[0] == 204


async def test_a_sender_that_goes_away_in_the_middle_sent_nothing() -> None:
    requests = Requests(Limits(bodies_bytes=100))
    for _ in range(3):
        answer = await requests.ask(a_body(b"half", more=True), {"type": "http.disconnect"}, length=100)
        assert answer == (0, {})
    assert requests.inside == 0
