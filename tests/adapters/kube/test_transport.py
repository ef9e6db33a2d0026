"""Requests to a server that breaks off, refuses or talks nonsense."""

from __future__ import annotations

import math
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from shared.adapters.kube import ApiError, Connection
from shared.adapters.kube.patience import answered_within, seconds_left
from shared.adapters.kube.transport import PRESENT_RUN, THROTTLED_TRIES, Transport
from tests.kit.silent_server import a_silent_server
from tests.kit.waiting import wait_for


@contextmanager
def a_server(*answers: bytes, heads: list[bytes] | None = None) -> Iterator[tuple[Connection, list[bytes]]]:
    """Gives one answer to each connection, in order; an empty one is a connection that breaks off."""
    asked: list[bytes] = []
    heads = [] if heads is None else heads
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        for answer in answers:
            try:
                connection, _ = listening.accept()
            except OSError:
                return  # closed: the test is over, and nobody asked for this answer
            with connection:
                head = connection.recv(65536)
                asked.append(head.partition(b"\r\n")[0])
                heads.append(head)
                connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield Connection(f"http://127.0.0.1:{listening.getsockname()[1]}"), asked
    finally:
        listening.close()


def an_answer(body: bytes, status: str = "200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (status.encode(), len(body), body)


def test_a_read_is_repeated_when_the_connection_breaks_off() -> None:
    with a_server(b"", b"", an_answer(b'{"a": 1}')) as (connection, asked):
        assert Transport(connection).request("GET", "/x") == {"a": 1}
    assert asked == [b"GET /x HTTP/1.1"] * 3


def test_the_audit_log_of_the_server_can_name_the_run_that_asked() -> None:
    heads: list[bytes] = []
    with a_server(*[an_answer(b"{}")] * 3, heads=heads) as (connection, _):
        token = PRESENT_RUN.set("0198-ab")
        transport = Transport(connection)
        for _ in range(2):
            transport.request("GET", "/x")
        PRESENT_RUN.reset(token)
        transport.request("GET", "/x")
    reported = [line for head in heads for line in head.split(b"\r\n") if line.startswith(b"Audit-ID")]
    assert reported == [b"Audit-ID: 0198-ab.1", b"Audit-ID: 0198-ab.2"]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_write_is_not(method: str) -> None:
    with a_server(b"", an_answer(b"{}")) as (connection, asked):
        with pytest.raises(ApiError) as caught:
            Transport(connection).request(method, "/x", {})
        assert caught.value.is_unreachable
    assert asked == [f"{method} /x HTTP/1.1".encode()]


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        pytest.param(
            an_answer(
                b'{"kind": "Status", "reason": "Forbidden", "message": "you may not", "code": 403}', "403 Forbidden"
            ),
            (403, "Forbidden", "you may not"),
            id="a Status of the API server",
        ),
        pytest.param(
            an_answer(b"<html>Bad gateway", "502 Bad Gateway"),
            (502, "Unknown", "<html>Bad gateway"),
            id="a proxy's page",
        ),
        pytest.param(an_answer(b"", "500 Oops"), (500, "Unknown", "HTTP 500 without a body"), id="nothing at all"),
    ],
)
def test_a_refusal_is_reported_as_it_was_said(answer: bytes, want: tuple[int, str, str]) -> None:
    with a_server(answer) as (connection, _), pytest.raises(ApiError) as caught:
        Transport(connection).request("GET", "/x")
    assert (caught.value.status, caught.value.reason, caught.value.message) == want


@pytest.mark.parametrize("body", [b"not json", b"[]"], ids=["text", "a list"])
def test_an_answer_that_is_no_object_counts_as_none(body: bytes) -> None:
    with a_server(an_answer(body)) as (connection, _), pytest.raises(ApiError) as caught:
        Transport(connection).request("GET", "/x")
    assert caught.value.is_unreachable


def throttled(seconds: str) -> bytes:
    return an_answer(b"", "429 Too Many Requests").replace(b"\r\n\r\n", f"\r\nRetry-After: {seconds}\r\n\r\n".encode())


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_request_that_is_throttled_is_sent_again_when_the_server_wants_it(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.adapters.kube.errors.LONGEST_PAUSE_SECONDS", 0.2)
    with a_server(throttled("1"), throttled("3600"), an_answer(b'{"a": 1}')) as (connection, asked):
        started = time.monotonic()
        assert Transport(connection).request(method, "/x", {}) == {"a": 1}
        assert 0.4 < time.monotonic() - started < 3600, "as long as it wants, but not for ever"
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        pytest.param(throttled("1"), 1 + THROTTLED_TRIES, id="again and again: a few times"),
        pytest.param(throttled("Fri, 27 Nov 2026 19:00:00 GMT"), 1, id="until a date: never, the caller backs off"),
        pytest.param(throttled("-1"), 1, id="until before now"),
        pytest.param(an_answer(b"", "429 Too Many Requests"), 1, id="it does not say when"),
        pytest.param(an_answer(b"", "503 Service Unavailable"), 1, id="another refusal"),
    ],
)
def test_a_request_is_not_sent_again_for_ever(answer: bytes, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.adapters.kube.errors.LONGEST_PAUSE_SECONDS", 0.01)
    with a_server(*[answer] * count) as (connection, asked), pytest.raises(ApiError):
        Transport(connection).request("GET", "/x")
    assert len(asked) == count


def test_while_a_server_is_busy_no_thread_asks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.adapters.kube.errors.LONGEST_PAUSE_SECONDS", 0.3)
    with a_server(throttled("1"), *[an_answer(b"{}")] * 2) as (connection, asked):
        transport = Transport(connection)
        first = threading.Thread(target=transport.request, args=("GET", "/first"))
        first.start()
        wait_for(lambda: transport._resting_until)
        transport.request("GET", "/second")
        assert time.monotonic() >= transport._resting_until
        first.join()
    assert asked[0] == b"GET /first HTTP/1.1"


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as deaf:  # bound, so that nobody else listens there
        deaf.bind(("127.0.0.1", 0))
        port = deaf.getsockname()[1]
        with pytest.raises(ApiError, match=f"Unreachable: http://127.0.0.1:{port}: .*refused"):
            Transport(Connection(f"http://127.0.0.1:{port}")).request("POST", "/x", {})


def test_the_warnings_of_the_last_write_are_kept() -> None:
    """catalog.md 4.5.4: HTTP 299, several headers, quotes escaped; a read in between does not count."""
    warned = an_answer(b"{}").replace(
        b"\r\n\r\n", b'\r\nWarning: 299 - "unknown field \\"x\\""\r\nWarning: 299 - "old, going"\r\n\r\n'
    )
    with a_server(warned, an_answer(b"{}"), an_answer(b"{}")) as (connection, _):
        transport = Transport(connection)
        heard = [transport.warnings]
        for method in ("POST", "GET", "PUT"):
            transport.request(method, "/x")
            heard.append(transport.warnings)
    both = ('unknown field "x"', "old, going")
    assert heard == [(), both, both, ()]


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_no_answer_is_waited_for_beyond_the_time_of_a_run(method: str) -> None:
    with a_silent_server() as (address, taken):
        transport = Transport(Connection(address))
        with answered_within(0.5):
            for _ in range(2):
                with pytest.raises(ApiError) as caught:
                    transport.request(method, "/x")
                assert caught.value.is_unreachable
        assert seconds_left() == math.inf
    assert len(taken) == 1, "neither again by itself, nor once the time is over"


def test_a_server_that_is_too_busy_for_the_rest_of_a_run_is_not_asked() -> None:
    with a_server(throttled("1"), an_answer(b"{}")) as (connection, asked):
        with answered_within(0.5), pytest.raises(ApiError) as caught:
            Transport(connection).request("GET", "/x")
        assert caught.value.is_unreachable
        assert "no time left in this run" in caught.value.message
    assert len(asked) == 1
