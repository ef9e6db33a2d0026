"""What clients of a server for anybody may do, and when they are hung up on."""

from __future__ import annotations

import logging
import socket
import ssl
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus

import pytest

from shared.adapters import prompt_server
from shared.adapters.http_requests import Head
from shared.adapters.prompt_server import Answer, Asked, Bounds, Later, text_answer
from tests.kit.waiting import PATIENCE_SECONDS, wait_for

HELLO = b"GET / HTTP/1.1\r\n\r\n"


class Kept(logging.Handler):
    """The messages that came."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """What the server logs."""
    logger, kept = logging.getLogger(prompt_server.__name__), Kept()
    before = logger.level
    logger.addHandler(kept)
    logger.setLevel(logging.DEBUG)
    yield kept.messages
    logger.setLevel(before)
    logger.removeHandler(kept)


@contextmanager
def served(
    answer: Callable[[Head, bytes], Answer | Later] = lambda *_: text_answer(HTTPStatus.OK, "hello"), **bounds: float
) -> Iterator[int]:
    asked = Asked(answer, Bounds(**bounds), lambda head: head.method == "POST")  # type: ignore[arg-type]  # why: counts, too
    with prompt_server.running(prompt_server.listening("", 0), asked) as port:
        yield port


def talk(port: int, *requests: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection:
        connection.sendall(b"".join(requests))
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_requests_of_a_connection_are_answered_one_after_the_other() -> None:
    with served(lambda head, _: text_answer(HTTPStatus.OK, head.target)) as port:
        said_all = talk(port, *(f"GET /{number} HTTP/1.1\r\n\r\n".encode() for number in range(3)))
    assert [line for line in said_all.splitlines() if line.startswith(b"/")] == [b"/0", b"/1", b"/2"]


def test_an_answer_may_be_found_by_a_thread_and_be_of_unknown_length() -> None:
    found = Answer(HTTPStatus.OK, {}, iter([b"one", b"two"]), None, is_slow=True)
    with served(lambda *_: lambda: found) as port:
        assert talk(port, HELLO).partition(b"\r\n\r\n")[2] == b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"


def test_a_body_is_read_where_it_may_be() -> None:
    with served(lambda _, body: text_answer(HTTPStatus.OK, body.decode())) as port:
        posted = talk(port, b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n", b"abc", HELLO)
        assert posted.count(b"200 OK") == 2
        assert b"abc\n" in posted
        assert talk(port, b"GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\n", HELLO).count(b"200 OK") == 1


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\n\r\n", 505),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n a: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 101 + b"\r\n", 431),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 431),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (b"POST / HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
    ],
)
def test_what_is_no_request_ends_its_connection(request_: bytes, status: int) -> None:
    with served() as port:
        answer = talk(port, request_)
        assert answer.startswith(b"HTTP/1.1 %d " % status)
        assert b"Connection: close" in answer


@pytest.mark.parametrize(
    ("request_", "is_last"),
    [
        (HELLO, False),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", True),
        (b"GET / HTTP/1.0\r\n\r\n", True),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", False),
    ],
)
def test_how_long_a_connection_lasts(request_: bytes, is_last: bool) -> None:
    with served() as port:
        assert (talk(port, request_, request_).count(b"200 OK") == 1) is is_last


def test_a_defect_ends_its_connection_alone(logged: list[str]) -> None:
    def defect(head: Head, _: bytes) -> Answer:
        if head.target == "/defect":
            raise KeyError(head.target)
        return text_answer(HTTPStatus.OK, "hello")

    with served(defect) as port:
        assert talk(port, b"GET /defect HTTP/1.1\r\n\r\n") == b""
        assert b"hello" in talk(port, HELLO)
    assert "an answer failed" in logged


def test_who_says_a_byte_at_a_time_is_hung_up_on() -> None:
    with (
        served(request_seconds=0.2) as port,
        socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection,
    ):
        connection.settimeout(0.02)

        def is_over() -> bool:
            try:
                connection.sendall(b"x")
                return connection.recv(1) == b""
            except TimeoutError:
                return False
            except ConnectionError:
                return True

        wait_for(is_over, "the end of its patience")


def test_who_does_not_read_is_hung_up_on(logged: list[str]) -> None:
    endless = Answer(HTTPStatus.OK, {}, iter(lambda: bytes(65536), None), None)
    with (
        served(lambda *_: endless, answer_seconds=0.2) as port,
        socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection,
    ):
        connection.sendall(HELLO)
        wait_for(lambda: any("went away" in one for one in logged), "the end of its patience")


def test_who_comes_when_all_places_are_taken_is_hung_up_on() -> None:
    with served(connections=1) as port:
        with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as first:
            first.sendall(b"GET")
            with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as second:
                assert second.recv(1) == b""
        wait_for(lambda: b"200 OK" in answer_to(port, HELLO), "a free place")


def answer_to(port: int, request: bytes) -> bytes:
    """What a client gets; nothing when it is hung up on, whatever it has sent already."""
    with suppress(ConnectionError):
        return talk(port, request)
    return b""


def test_who_never_agrees_on_tls_takes_a_place_too(logged: list[str]) -> None:
    asked = Asked(lambda *_: text_answer(HTTPStatus.OK, "hello"), Bounds(connections=1, request_seconds=1))
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with prompt_server.running(prompt_server.listening("", 0), asked, trust=trust) as port:
        with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as silent:
            with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as second:
                assert second.recv(1) == b"", "hung up on at once"
            assert silent.recv(1) == b"", "the end of its patience"
        wait_for(lambda: any("127.0.0.1 agreed on no TLS" in one for one in logged))


def test_a_client_that_resets_its_connection_leaves_one_line_for_whoever_debugs(
    logged: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with served() as port:
        with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection:
            connection.sendall(b"GET /catalogs")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closes with a reset
        wait_for(lambda: bool(logged), "the server hears of it")
    assert len(logged) == 1
    assert "127.0.0.1 went away: " in logged[0]
    assert capsys.readouterr().err == ""
