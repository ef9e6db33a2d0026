"""A hostile registry: it redirects, sends to other realms for a token, or sends a byte now and then."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SLOW_SECONDS = 2.0


@dataclass
class Hostile:
    """The registry, and the address where nobody may be sent."""

    address: str = ""
    inside: str = ""
    reached: list[str] = field(default_factory=list)
    """Requests that arrived inside."""
    slow: list[str] = field(default_factory=list)
    """Paths that are answered with a byte now and then."""
    asked: list[str] = field(default_factory=list)
    """Paths of all requests: an attack whose registry nobody asks is none."""
    ended: threading.Event = field(default_factory=threading.Event)


class Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD with a function."""

    def __init__(self, answer: Callable[[BaseHTTPRequestHandler], None], *more: object) -> None:
        self._answer = answer
        super().__init__(*more)  # type: ignore[arg-type]  # what the server gives

    def do_GET(self) -> None:
        """Any GET."""
        self._answer(self)

    def do_HEAD(self) -> None:
        """Any HEAD."""
        self._answer(self)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def hostile_registry() -> Iterator[Hostile]:
    """Both servers, until the block ends."""
    found = Hostile()
    servers = [
        ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, partial(answer, found))) for answer in (_attack, _inside)
    ]
    found.address, found.inside = (f"127.0.0.1:{server.server_address[1]}" for server in servers)
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        found.ended.set()
        for server in servers:
            server.shutdown()
            server.server_close()


def _inside(found: Hostile, request: BaseHTTPRequestHandler) -> None:
    found.reached.append(f"{request.command} {request.path} {request.headers.get('Authorization', '')}")
    request.send_response(200)
    request.end_headers()
    request.wfile.write(b'{"token": "INTERNAL-SECRET-TOKEN"}')


def _attack(found: Hostile, request: BaseHTTPRequestHandler) -> None:
    found.asked.append(request.path)
    if "/redirect/" in request.path:
        request.send_response(302)
        request.send_header("Location", f"http://{found.inside}/internal/admin?x=1")
        request.end_headers()
    elif "/realm/" in request.path:
        request.send_response(401)
        request.send_header("WWW-Authenticate", f'Bearer realm="http://{found.inside}/token",service="x"')
        request.end_headers()
    else:
        _drip(found, request)


def _drip(found: Hostile, request: BaseHTTPRequestHandler) -> None:
    found.slow.append(request.path)
    request.send_response(200)
    request.send_header("Content-Type", "application/vnd.oci.image.manifest.v1+json")
    request.send_header("Content-Length", "1000000")
    request.end_headers()
    while not found.ended.wait(SLOW_SECONDS):
        try:
            request.wfile.write(b" ")
        except OSError:
            return
