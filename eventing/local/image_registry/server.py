"""The pull half of the registry API over HTTP, on loopback."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Final

import orjson

from eventing.local.image_registry.repository_index import RepositoryIndex, Sources
from shared.adapters.oci.build import MANIFEST_TYPE
from shared.adapters.threaded_server import ThreadedServer

_HOST: Final = "127.0.0.1"
_MANIFEST: Final = re.compile(r"/v2/(.+)/manifests/([^/]+)")
_BLOB: Final = re.compile(r"/v2/(.+)/blobs/(sha256:[0-9a-f]{64})")
_TAGS: Final = re.compile(r"/v2/(.+)/tags/list")
_RANGE: Final = re.compile(r"bytes=(\d{1,18})-(\d{0,18})")
_CODES: Final = {
    HTTPStatus.NOT_FOUND: "NOT_FOUND",
    HTTPStatus.METHOD_NOT_ALLOWED: "UNSUPPORTED",
    HTTPStatus.SERVICE_UNAVAILABLE: "UNKNOWN",
}


class Server(ThreadedServer):
    """The registry; a thread for each request."""

    index: RepositoryIndex

    @property
    def address(self) -> str:
        """Where it listens, as `host:port`."""
        return f"{_HOST}:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: in two, the second waits 40 ms for the acknowledgement of the first
    server: Server

    def do_GET(self) -> None:
        """Answer a read, or say which file cannot be read."""
        try:
            self._read()
        except (ConnectionError, TimeoutError):
            raise  # the client went away
        except OSError as error:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, f"a file cannot be read: {error}")

    def _read(self) -> None:
        path = self.path.partition("?")[0]
        index = self.server.index
        if path in ("/v2", "/v2/"):
            self._json({})
        elif path == "/v2/_catalog":
            self._json({"repositories": index.repositories()})
        elif found := _TAGS.fullmatch(path):
            self._tags(found[1], index.tags(found[1]))
        elif found := _MANIFEST.fullmatch(path):
            image = index.image(found[1], found[2])
            if image is None:
                self._refuse(HTTPStatus.NOT_FOUND, f"{found[1]}:{found[2]} is not served here")
            else:
                self._content(image.manifest, MANIFEST_TYPE, image.digest)
        elif found := _BLOB.fullmatch(path):
            self._blob(found[2], index.blob(found[1], found[2]))
        else:
            self._refuse(HTTPStatus.NOT_FOUND, f"{path} is not served here")

    do_HEAD = do_GET  # noqa: N815  # why: the name that http.server calls

    def _refuse_writing(self) -> None:
        self.close_connection = True  # the body was not read
        self._refuse(HTTPStatus.METHOD_NOT_ALLOWED, "this registry serves folders and is read-only: change the folder")

    do_POST = do_PUT = do_PATCH = do_DELETE = _refuse_writing  # noqa: N815  # why: as above

    def _tags(self, name: str, tags: list[str]) -> None:
        if tags:
            self._json({"name": name, "tags": tags})
        else:
            self._refuse(HTTPStatus.NOT_FOUND, f"{name} is not served here")

    def _json(self, value: object) -> None:
        self._send(HTTPStatus.OK, orjson.dumps(value), {"Content-Type": "application/json"})

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        body = orjson.dumps({"errors": [{"code": _CODES[status], "message": message}]})
        self._send(status, body, {"Content-Type": "application/json"})

    def _blob(self, digest: str, content: bytes | None) -> None:
        if content is None:
            self._refuse(HTTPStatus.NOT_FOUND, f"blob {digest} is not served here")
        else:
            self._content(content, "application/octet-stream", digest)

    def _content(self, content: bytes, content_type: str, digest: str) -> None:
        headers = {"Content-Type": content_type, "Docker-Content-Digest": digest, "Accept-Ranges": "bytes"}
        part = _RANGE.fullmatch(self.headers.get("Range", ""))
        if part is None:
            self._send(HTTPStatus.OK, content, headers)
            return
        start, end = int(part[1]), min(int(part[2] or len(content) - 1), len(content) - 1)
        if start > end:
            self._send(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, b"", {"Content-Range": f"bytes */{len(content)}"})
            return
        headers["Content-Range"] = f"bytes {start}-{end}/{len(content)}"
        self._send(HTTPStatus.PARTIAL_CONTENT, content[start : end + 1], headers)

    def _send(self, status: HTTPStatus, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Requests are not logged: who pulls, says so."""


def server_of(sources: Sources, port: int = 0, log: Callable[[str], None] = lambda _: None) -> Server:
    """A registry that listens and does not serve yet."""
    server = Server((_HOST, port), _Handler)
    server.index = RepositoryIndex(sources, server.address, log)
    return server


def serve(sources: Sources, port: int = 0, on_ready: Callable[[str], object] = lambda _: None) -> None:
    """Serve until the process ends; `on_ready` is told `host:port` as soon as requests are answered."""
    with server_of(sources, port, _log) as server:
        _log(f"serving images at {server.address}")
        on_ready(server.address)
        server.serve_forever()


def _log(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")
