"""A receiver that answers late, slowly or without end takes no more than the time there is."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest

from eventing.endpoint.sender import EndpointError, Post, send
from eventing.events.event import Event
from shared import kinds, names
from tests.kit.waiting import PATIENCE_SECONDS

AN_EVENT = Event("1", names.RESYNC_REQUESTED, "/test", kinds.NAMESPACE.ref("team-a"))
SECONDS = 0.4


@contextmanager
def receiver(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a receiver of one request."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            line, _ = listening.accept()
            with line:
                line.recv(65536)
                try:
                    answer(line)
                except OSError:
                    return  # the sender has gone

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/events?a=b"
        thread.join(30)


def drips(first: bytes) -> Callable[[socket.socket], None]:
    def answer(line: socket.socket) -> None:
        line.sendall(first)
        for _ in range(200):
            line.sendall(b"x")
            time.sleep(0.05)

    return answer


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        pytest.param(lambda line: line.recv(1), "the endpoint does not answer", id="nothing comes"),
        pytest.param(drips(b"HTTP/1.1 200 OK\r\nA: "), "the endpoint does not answer", id="a head without end"),
        pytest.param(
            drips(b"HTTP/1.1 500 No\r\nContent-Length: 400\r\n\r\n"), "the endpoint answered 500", id="a slow body"
        ),
        pytest.param(lambda line: line.sendall(b"nonsense\r\n\r\n"), "does not answer", id="no HTTP"),
    ],
)
def test_a_sender_does_not_wait_for_ever(answer: Callable[[socket.socket], None], want: str) -> None:
    with receiver(answer) as url, pytest.raises(EndpointError, match=want):
        send(url, AN_EVENT, seconds=SECONDS)


def test_a_name_that_is_looked_up_for_ever_is_not_waited_for() -> None:
    goes_on, ends = threading.Event(), threading.Event()

    def connect(connection: HTTPConnection) -> None:
        goes_on.wait()
        connection.connect()
        ends.set()

    asked: list[bytes] = []
    with receiver(lambda line: asked.append(line.recv(1))) as url:
        with pytest.raises(TimeoutError, match="no answer within"):
            Post(url, {}, b"", connect).within(0.1)
        goes_on.set()
        assert ends.wait(PATIENCE_SECONDS)
    assert asked == [b""], "what was given up is not posted after all"


def test_of_a_long_refusal_a_sentence_is_read() -> None:
    body = b"x" * 5_000_000
    answer = b"HTTP/1.1 400 Bad\r\nContent-Length: %d\r\n\r\n" % len(body)
    with receiver(lambda line: line.sendall(answer + body)) as url, pytest.raises(EndpointError) as refused:
        send(url, AN_EVENT, token="a-token")
    assert len(str(refused.value)) < 600


def test_an_answer_that_accepts_is_not_waited_for_to_its_end() -> None:
    with receiver(drips(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")) as url:
        send(url, AN_EVENT)
