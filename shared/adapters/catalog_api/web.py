"""A catalog over HTTP, as OLM v1's catalogd serves it (v1.md §6), with an ETag on top."""

from __future__ import annotations

import re
import ssl
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias
from urllib.parse import parse_qs, urlsplit

from shared.adapters.catalog_api.errors import PortTakenError
from shared.adapters.catalog_api.lines import Lines
from shared.adapters.threaded_server import ThreadedServer
from shared.domain.syntax import SUBDOMAIN

_ROUTE: Final = re.compile(r"/catalogs/([^/]+)/api/v1/(all|metas)")
_PARAMETERS: Final = ("schema", "package", "name")
_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_CHUNK_BYTES: Final = 256 * 1024
_GZIP_FROM: Final = 1400
_GZIP: Final = 16 + zlib.MAX_WBITS
_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class Body:
    """The content that a request asks for."""

    chunks: Callable[[int, int], Iterable[bytes]]
    """Returns the bytes from one position up to another."""
    size: int
    tag: str
    modified: datetime


Known: TypeAlias = Mapping[str, Lines | None]
"""The catalogs that are served, by name; None for one whose content is not here yet."""


class _Server(ThreadedServer):
    request_queue_size = 1024
    catalogs: Known


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _SECONDS
    server: _Server

    def do_GET(self) -> None:
        """Answer a read."""
        parts = urlsplit(self.path)
        route = _ROUTE.fullmatch(parts.path)
        if route is None:
            self._refuse(HTTPStatus.NOT_FOUND, "404 page not found")
            return
        name, kind = route[1], route[2]
        if SUBDOMAIN.problems(name):
            self._refuse(HTTPStatus.BAD_REQUEST, f"invalid catalog name: {SUBDOMAIN.rule}")
            return
        asked = parse_qs(parts.query, keep_blank_values=True) if kind == "metas" else {}
        if set(asked) - set(_PARAMETERS):
            self._refuse(HTTPStatus.BAD_REQUEST, "400 Bad Request")
        else:
            self._catalog(name, asked)

    do_HEAD = do_GET  # noqa: N815  # why: the name that http.server calls

    def _catalog(self, name: str, asked: Mapping[str, list[str]]) -> None:
        try:
            lines = self.server.catalogs[name]  # another thread may take it away at any moment
        except KeyError:
            self._refuse(HTTPStatus.NOT_FOUND, "404 Not Found")
            return
        if lines is None:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "503 Service Unavailable", {"Retry-After": "1"})
        else:
            self._content(self._body(lines, asked))

    def _refuse_writing(self) -> None:
        is_known = _ROUTE.fullmatch(urlsplit(self.path).path)
        status = HTTPStatus.METHOD_NOT_ALLOWED if is_known else HTTPStatus.NOT_FOUND
        self._refuse(status, "Method Not Allowed" if is_known else "404 page not found", {"Connection": "close"})

    do_POST = do_PUT = do_PATCH = do_DELETE = _refuse_writing  # noqa: N815  # why: as above

    def _body(self, lines: Lines, asked: Mapping[str, list[str]]) -> Body:
        wanted = {name: asked[name][0] for name in _PARAMETERS if name in asked and asked[name][0]}
        if not wanted:
            path = lines.file()
            return Body(lambda start, end: _read(path, start, end), path.stat().st_size, lines.tag, lines.modified)
        content = b"".join(lines.matching(**wanted))
        return Body(lambda start, end: [content[start:end]], len(content), lines.tag, lines.modified)

    def _content(self, body: Body) -> None:
        headers = {"Last-Modified": format_datetime(body.modified, usegmt=True), "ETag": body.tag}
        if (status := _precondition(self.headers, body)) is not None:
            self._send(status, headers)
            return
        headers |= {"Content-Type": "application/jsonl", "Accept-Ranges": "bytes", "Vary": "Accept-Encoding"}
        span = _span(self.headers, body)
        if span is None:
            self._send(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, {"Content-Range": f"bytes */{body.size}"})
            return
        is_part = span != (0, body.size)
        if is_part:
            headers["Content-Range"] = f"bytes {span[0]}-{span[1] - 1}/{body.size}"
        elif body.size > _GZIP_FROM and "gzip" in self.headers.get("Accept-Encoding", ""):
            self._send_packed(headers, body)
            return
        status = HTTPStatus.PARTIAL_CONTENT if is_part else HTTPStatus.OK
        self._send(status, headers, body.chunks(*span), span[1] - span[0])

    def _send_packed(self, headers: dict[str, str], body: Body) -> None:
        self._head(HTTPStatus.OK, headers | {"Content-Encoding": "gzip", "Transfer-Encoding": "chunked"})
        if self.command == "HEAD":
            return
        for chunk in _packed(body.chunks(0, body.size)):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, status: HTTPStatus, message: str, more: Mapping[str, str] = MappingProxyType({})) -> None:
        content = f"{message}\n".encode()
        headers = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff", **more}
        self._send(status, headers, [content], len(content))

    def _send(
        self, status: HTTPStatus, headers: Mapping[str, str], chunks: Iterable[bytes] = (), size: int = 0
    ) -> None:
        is_empty = status == HTTPStatus.NOT_MODIFIED
        self._head(status, headers if is_empty else {**headers, "Content-Length": str(size)})
        if self.command != "HEAD":
            for chunk in chunks:
                self.wfile.write(chunk)

    def _head(self, status: HTTPStatus, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing is logged: clients log their own requests."""


def _precondition(headers: Message, body: Body) -> HTTPStatus | None:
    """The status that ends a request before its body, or None."""
    if (wanted := headers.get("If-Match")) is not None:
        if not _names(wanted, body.tag):
            return HTTPStatus.PRECONDITION_FAILED
    elif (limit := _date(headers.get("If-Unmodified-Since"))) and body.modified > limit:
        return HTTPStatus.PRECONDITION_FAILED
    if (known := headers.get("If-None-Match")) is not None:
        return HTTPStatus.NOT_MODIFIED if _names(known, body.tag) else None
    since = _date(headers.get("If-Modified-Since"))
    return HTTPStatus.NOT_MODIFIED if since and body.modified <= since else None


def _names(tags: str, tag: str) -> bool:
    listed = {one.strip().removeprefix("W/") for one in tags.split(",")}
    return bool(listed & {"*", tag})


def _date(text: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(text) if text else None
    except (ValueError, OverflowError):
        return None  # a date that cannot be read is none
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found


def _span(headers: Message, body: Body) -> tuple[int, int] | None:
    """The range of bytes that is asked for; None when it is outside of the content."""
    whole = (0, body.size)
    found = _RANGE.fullmatch(headers.get("Range", ""))
    if found is None or found[0] == "bytes=-":
        return whole  # several ranges are answered with everything, which is allowed
    if (condition := headers.get("If-Range")) and condition != body.tag and _date(condition) != body.modified:
        return whole
    if not found[1]:
        start, end = max(0, body.size - int(found[2])), body.size
    else:
        start, end = int(found[1]), min(int(found[2]) + 1 if found[2] else body.size, body.size)
    return (start, end) if start < end else None


def _read(path: Path, start: int, end: int) -> Iterator[bytes]:
    with path.open("rb") as stream:
        stream.seek(start)
        left = end - start
        while left and (chunk := stream.read(min(left, _CHUNK_BYTES))):
            left -= len(chunk)
            yield chunk


def _packed(chunks: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=_GZIP)
    for chunk in chunks:
        if packed := packer.compress(chunk):
            yield packed
    yield packer.flush()


@contextmanager
def running(
    catalogs: Known, host: str = "127.0.0.1", port: int = 0, *, trust: ssl.SSLContext | None = None
) -> Iterator[int]:
    """The port of a server that answers in threads until the end of the block; over TLS with `trust`. PortTakenError.

    `catalogs` is looked at for each request: what it holds may change meanwhile.
    """
    try:
        listening = _Server((host, port), _Handler)
    except (OSError, OverflowError) as error:
        raise PortTakenError(f"{host}:{port} cannot be listened on: {error}") from error
    with listening as server:
        server.catalogs = catalogs
        if trust is not None:  # the thread of a connection does its handshake, so nobody waits for a slow one
            server.socket = trust.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield int(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()
