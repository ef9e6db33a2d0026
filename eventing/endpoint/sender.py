"""Posts one event to an endpoint, or to another receiver of CloudEvents."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from queue import Empty, SimpleQueue
from urllib.parse import urlsplit

from eventing.events.cloudevents import to_request
from eventing.events.event import Event
from shared.adapters.tls import tls_context

SECONDS = 10.0
"""How long a receiver may take in all, also one that answers a byte at a time."""
LONGEST_ANSWER = 500
_CUT_SECONDS = 1.0
"""How long a connection that was cut may take to say what came until then."""


class EndpointError(OSError):
    """The receiver did not accept the event; the message says why."""


def send(
    url: str,
    event: Event,
    receiver: str = "the endpoint",
    *,
    token: str = "",
    seconds: float = SECONDS,
) -> None:
    """Post the event; returns when the receiver has accepted it, raises EndpointError otherwise.

    Of an answer that accepts nothing but the status is read, of another one no more than a sentence.
    """
    headers, body = to_request(event)
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        status, text = Post(url, headers, body).within(seconds)
    except (HTTPException, OSError, ValueError) as error:
        raise EndpointError(f"{receiver} does not answer: {str(error) or type(error).__name__}") from error
    if not 200 <= status < 300:
        raise EndpointError(f"{receiver} answered {status}: {text}")


class Post:
    """One request, in a thread of its own: neither looking up a name nor an answer in small pieces has a deadline."""

    def __init__(
        self, url: str, headers: dict[str, str], body: bytes,
        connect: Callable[[HTTPConnection], None] = lambda connection: connection.connect(),
    ) -> None:  # fmt: skip
        place = urlsplit(url)
        self._target = (place.path or "/") + (f"?{place.query}" if place.query else "")
        self._headers, self._body, self._connect = headers, body, connect
        host = place.hostname or ""
        self._connection = (
            HTTPSConnection(host, place.port, context=tls_context())
            if place.scheme == "https"
            else HTTPConnection(host, place.port)
        )
        self._is_late = threading.Event()
        self._ends: SimpleQueue[tuple[int, str] | Exception] = SimpleQueue()

    def within(self, seconds: float) -> tuple[int, str]:
        """Status and first words of the answer. TimeoutError without a status in time."""
        self._connection.timeout = seconds
        threading.Thread(target=self._run, name="post", daemon=True).start()
        try:
            end = self._ends.get(timeout=seconds)
        except Empty:
            self._is_late.set()
            self._cut()
            try:
                end = self._ends.get(timeout=_CUT_SECONDS)
            except Empty:
                raise TimeoutError(f"no answer within {seconds:g} s") from None
        if isinstance(end, Exception):
            raise end
        return end

    def _run(self) -> None:
        end: tuple[int, str] | Exception
        try:
            end = self._answer()
        except Exception as error:  # noqa: BLE001  # why: raised where it is waited for
            end = error
        self._connection.close()
        self._ends.put(end)

    def _answer(self) -> tuple[int, str]:
        self._connect(self._connection)
        self._check_time()  # what was given up must not be posted after all
        self._connection.request("POST", self._target, self._body, self._headers)
        with self._connection.getresponse() as answer:
            self._check_time()  # a head that was cut off looks like a whole one
            if 200 <= answer.status < 300:
                return answer.status, ""
            text = b""
            with contextlib.suppress(HTTPException, OSError):  # the status says enough
                text = answer.read(LONGEST_ANSWER)
            return answer.status, text.decode(errors="replace").strip()

    def _check_time(self) -> None:
        if self._is_late.is_set():
            raise TimeoutError("no answer in time")

    def _cut(self) -> None:
        """End whatever the connection waits for; its own time limit is that of a single read."""
        with contextlib.suppress(OSError, AttributeError):
            self._connection.sock.shutdown(socket.SHUT_RDWR)
