"""Posts one event to an endpoint, or to another receiver of CloudEvents."""

from __future__ import annotations

import contextlib
import socket
import threading
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from eventing.cloudevents import to_request
from eventing.events import Event

SECONDS = 10.0
"""How long a receiver may take in all, also one that answers a byte at a time."""
LONGEST_ANSWER = 500


class EndpointError(OSError):
    """The receiver did not accept the event; the message says why."""


def send(url: str, event: Event, receiver: str = "the endpoint", *, token: str = "", seconds: float = SECONDS) -> None:
    """Post the event; returns when the receiver has accepted it, raises EndpointError otherwise.

    Of an answer that accepts nothing but the status is read, of another one no more than a sentence.
    """
    headers, body = to_request(event)
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        status, said = _posted(url, headers, body, seconds)
    except (HTTPException, OSError, ValueError) as error:
        raise EndpointError(f"{receiver} does not answer: {str(error) or type(error).__name__}") from error
    if not 200 <= status < 300:
        raise EndpointError(f"{receiver} answered {status}: {said}")


def _posted(url: str, headers: dict[str, str], body: bytes, seconds: float) -> tuple[int, str]:
    """Status and first words of the answer."""
    place = urlsplit(url)
    connection = (HTTPSConnection if place.scheme == "https" else HTTPConnection)(
        place.hostname or "", place.port, timeout=seconds
    )
    is_late = threading.Event()
    late = threading.Timer(seconds, _cut, (connection, is_late))
    late.daemon = True
    late.start()
    try:
        target = (place.path or "/") + (f"?{place.query}" if place.query else "")
        connection.request("POST", target, body, headers)
        answer = connection.getresponse()
        if is_late.is_set():  # a head that was cut off looks like a whole one
            raise TimeoutError(f"no answer within {seconds:g} s")
        if 200 <= answer.status < 300:
            return answer.status, ""
        said = b""
        with contextlib.suppress(HTTPException, OSError):  # the status says enough
            said = answer.read(LONGEST_ANSWER)
        return answer.status, said.decode(errors="replace").strip()
    finally:
        late.cancel()
        connection.close()


def _cut(connection: HTTPConnection, is_late: threading.Event) -> None:
    """End whatever the connection waits for; its own time limit is that of a single read."""
    is_late.set()
    with contextlib.suppress(OSError, AttributeError):
        connection.sock.shutdown(socket.SHUT_RDWR)
