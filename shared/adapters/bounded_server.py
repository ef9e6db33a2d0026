"""An HTTP server for anybody in the network: how many connections there are at once, and how long each may take."""

from __future__ import annotations

import io
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler
from typing import Any, Final, Self

from shared.adapters.threaded_server import ThreadedServer

MOST_CONNECTIONS: Final = 2048
"""At once, each of them a thread; who comes beyond is hung up on."""
REQUEST_SECONDS: Final = 5.0
"""From the end of an answer, or the beginning of a connection, to the end of the next request's headers."""
ANSWER_SECONDS: Final = 300.0
"""From the first to the last byte of an answer."""
_LEAST_SECONDS: Final = 0.001


class BoundedServer(ThreadedServer):
    """It holds a bounded number of connections."""

    request_queue_size = 1024
    most_connections = MOST_CONNECTIONS

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # why: the arguments of its class
        super().__init__(*args, **kwargs)
        self._free = threading.BoundedSemaphore(self.most_connections)

    @classmethod
    def at(cls, host: str, port: int, handler: type[BaseHTTPRequestHandler]) -> Self:
        """A server that listens; without a host on every address, of both versions of IP if there are both. OSError."""
        found = cls((host, port), handler, bind_and_activate=False)
        try:
            if not host and socket.has_dualstack_ipv6():
                found.socket.close()
                found.socket = socket.create_server(
                    ("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=cls.request_queue_size
                )
                found.server_address = found.socket.getsockname()
            else:
                found.server_bind()
                found.server_activate()
        except BaseException:
            found.server_close()
            raise
        return found

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread for the connection, while there are not too many."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """The whole of a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()


class _Reading(io.RawIOBase):
    """What a client sends, until a moment."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.ends = 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # why: any buffer
        self._connection.settimeout(max(self.ends - time.monotonic(), _LEAST_SECONDS))
        return self._connection.recv_into(buffer)


class PromptHandler(BaseHTTPRequestHandler):
    """It hangs up on clients that are slow, however they are: a byte at a time is too slow, too."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "olmf", ""
    request_seconds, answer_seconds = REQUEST_SECONDS, ANSWER_SECONDS

    def setup(self) -> None:
        """Read what comes within its time."""
        super().setup()
        self.rfile.close()
        self._reading = _Reading(self.connection)
        self.rfile = io.BufferedReader(self._reading)

    def handle_one_request(self) -> None:
        """A request and its answer, each in its time."""
        now = time.monotonic()
        self._reading.ends, self._answered = now + self.request_seconds, 0.0
        super().handle_one_request()

    def write(self, content: bytes | memoryview) -> None:
        """Send a piece of an answer. TimeoutError when the whole takes too long."""
        now = time.monotonic()
        self._answered = self._answered or now + self.answer_seconds
        self.connection.settimeout(max(self._answered - now, _LEAST_SECONDS))
        self.wfile.write(content)

    def flush_headers(self) -> None:
        """Send the headers, the first piece of an answer."""
        content = b"".join(getattr(self, "_headers_buffer", ()))
        self._headers_buffer: list[bytes] = []
        if content:
            self.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing is logged: clients log their own requests."""
