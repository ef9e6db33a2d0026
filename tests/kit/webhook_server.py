"""A TLS server in the process of the tests, which answers reviews and remembers them."""

from __future__ import annotations

import base64
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson

from tests.conformance.keys import CURVE, leaf, openssl

Json = Any
Handler = Callable[[Json], Json]
"""Makes the response of a request of a review; bytes are the whole body of the reply, an int is its status."""


@dataclass
class WebhookServer:
    """The running server."""

    port: int
    authority: str
    """Base64 of its CA, for `caBundle`."""
    handlers: dict[str, Handler] = field(default_factory=dict)
    """By path."""
    seen: list[tuple[str, Json]] = field(default_factory=list)
    """Path and review of each request."""

    def client(self, path: str) -> Json:
        """The `clientConfig` for a path."""
        return {"url": f"https://127.0.0.1:{self.port}{path}", "caBundle": self.authority}

    def requests(self, path: str) -> list[Json]:
        """The requests in the reviews that came to a path."""
        return [review["request"] for at, review in self.seen if at == path]


def allow(_: Json) -> Json:
    """Everything is allowed."""
    return {"allowed": True}


def patch(*operations: Json) -> Handler:
    """Allow with a JSON patch."""
    encoded = base64.b64encode(orjson.dumps(operations)).decode()
    return lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": encoded}


def refuse(**status: Json) -> Handler:
    """Refuse with a Status."""
    return lambda _: {"allowed": False, "status": status}


def make_authority(folder: Path, *names: str) -> Path:
    """A CA, and a certificate of it for these names, as `ca.crt`, `server.crt` and `server.key` in a new folder."""
    folder.mkdir()
    openssl(
        folder, "req", "-x509", *CURVE, "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=hooks",
        "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign",
    )  # fmt: skip
    leaf(folder, "ca", "server", f"subjectAltName={','.join(names)}", "extendedKeyUsage=serverAuth")
    return folder


@contextmanager
def running_webhooks(folder: Path, *names: str) -> Iterator[WebhookServer]:
    """A server whose certificate has these names (`IP:127.0.0.1` by default)."""
    keys = make_authority(folder, *(names or ("IP:127.0.0.1",)))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(keys / "server.crt", keys / "server.key")
    listening = _Listening(("127.0.0.1", 0), _Handler)
    listening.socket = context.wrap_socket(listening.socket, server_side=True, do_handshake_on_connect=False)
    authority = base64.b64encode((keys / "ca.crt").read_bytes()).decode()
    server = _Handler.server_of[listening] = WebhookServer(listening.server_port, authority)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


class _Listening(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that does not trust us, or that gave up, is what some tests are about."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server_of: dict[object, WebhookServer] = {}  # noqa: RUF012  # the server itself has no place for it

    def do_POST(self) -> None:
        review = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path, server = self.path.partition("?")[0], self.server_of[self.server]
        server.seen.append((path, review))
        response = server.handlers.get(path, allow)(review["request"])
        if isinstance(response, int):
            self._send(response, b"broken")
        elif isinstance(response, bytes):
            self._send(200, response)
        else:
            head = {"kind": review["kind"], "apiVersion": review["apiVersion"]}
            self._send(200, orjson.dumps({**head, "response": {"uid": review["request"]["uid"], **response}}))

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name is that of the base class
        """Nothing: tests look at `seen`."""
