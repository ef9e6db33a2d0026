"""A catalog over HTTP, as OLM v1's catalogd serves it (v1.md §6), with an ETag and zstd on top."""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from email.utils import format_datetime
from http import HTTPStatus
from types import MappingProxyType
from typing import Final, TypeAlias
from urllib.parse import parse_qs, unquote, urlsplit

import structlog

from shared.adapters.bounded_server import BoundedServer, PromptHandler
from shared.adapters.catalog_api.codings import CODINGS, chosen
from shared.adapters.catalog_api.conditions import Version, precondition, span
from shared.adapters.catalog_api.errors import PortTakenError
from shared.adapters.catalog_api.lines import Content, Lines
from shared.adapters.content.snapshot import BrokenSnapshot
from shared.adapters.oci.errors import OciError
from shared.domain.syntax import SUBDOMAIN

_ROUTE: Final = re.compile(r"/catalogs/([^/]+)/api/v1/(all|metas)")
_PARAMETERS: Final = ("schema", "package", "name")
_PACKED_FROM: Final = 1400
"""Bytes; less is not worth packing."""
log = structlog.get_logger()

Known: TypeAlias = Mapping[str, Lines | None]
"""The catalogs that are served, by name; None for one whose content is not here yet."""


class _Server(BoundedServer):
    catalogs: Known


class _Handler(PromptHandler):
    server: _Server

    def do_GET(self) -> None:  # noqa: N802  # why: the name that http.server calls
        """Answer a read."""
        self._bodiless()
        try:
            parts = urlsplit(self.path)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST, "400 Bad Request")
            return
        route = _ROUTE.fullmatch(parts.path)
        if route is None:
            self._refuse(HTTPStatus.NOT_FOUND, "404 page not found")
            return
        name, kind = unquote(route[1]), route[2]
        if problems := SUBDOMAIN.problems(name):
            self._refuse(HTTPStatus.BAD_REQUEST, f"invalid catalog name: {'; '.join(problems)}")
            return
        asked = parse_qs(parts.query, keep_blank_values=True) if kind == "metas" else {}
        if set(asked) - set(_PARAMETERS):
            self._refuse(HTTPStatus.BAD_REQUEST, "400 Bad Request")
        else:
            self._catalog(name, {word: asked[word][0] for word in asked if asked[word][0]})

    do_HEAD = do_GET  # noqa: N815  # why: the name that http.server calls

    def _bodiless(self) -> None:
        """A read with a body is answered, but what comes behind it is no request."""
        if {"Content-Length", "Transfer-Encoding"} & {name.title() for name in self.headers}:
            self.close_connection = True

    def _catalog(self, name: str, desired: Mapping[str, str]) -> None:
        try:
            lines = self.server.catalogs[name]  # another thread may take it away at any moment
        except KeyError:
            self._refuse(HTTPStatus.NOT_FOUND, "404 Not Found")
            return
        if lines is None:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "503 Service Unavailable", {"Retry-After": "1"})
            return
        try:
            content = lines.matching(**desired)
        except (OciError, OSError, BrokenSnapshot) as error:
            log.warning("catalog_unreadable", catalog=name, error=str(error))
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "500 Internal Server Error")
            return
        coding = self._coding(content.size)
        packed = lines.packed(coding) if coding and not desired else None
        self._content(content, Version(lines.tag, lines.modified), coding, packed)

    def _coding(self, size: int) -> str:
        """How the answer is packed; empty: not at all. A range is one of the content as it is."""
        if size <= _PACKED_FROM or "Range" in self.headers or self.request_version == "HTTP/1.0":
            return ""
        return chosen(",".join(self.headers.get_all("Accept-Encoding", ())))

    def _refuse_writing(self) -> None:
        is_known = _ROUTE.fullmatch(self.path.partition("?")[0])
        status = HTTPStatus.METHOD_NOT_ALLOWED if is_known else HTTPStatus.NOT_FOUND
        self._refuse(status, "Method Not Allowed" if is_known else "404 page not found", {"Connection": "close"})

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_CONNECT = _refuse_writing  # noqa: N815  # why: as above

    def _content(self, content: Content, version: Version, coding: str, packed: Content | None) -> None:
        headers = {
            "Last-Modified": format_datetime(version.modified, usegmt=True), "ETag": version.header(coding),
            "Vary": "Accept-Encoding",
        }  # fmt: skip
        if (status := precondition(self.headers, version)) is not None:
            self._send(status, headers)
            return
        headers["Content-Type"] = "application/jsonl"
        if coding:
            self._send_packed(headers | {"Content-Encoding": coding}, content, coding, packed)
            return
        headers["Accept-Ranges"] = "bytes"
        asked = span(self.headers, version, content.size)
        if asked is None:
            self._send(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, {"Content-Range": f"bytes */{content.size}"})
            return
        is_part = asked != (0, content.size)
        if is_part:
            headers["Content-Range"] = f"bytes {asked[0]}-{asked[1] - 1}/{content.size}"
        status = HTTPStatus.PARTIAL_CONTENT if is_part else HTTPStatus.OK
        self._send(status, headers, content.chunks(*asked), asked[1] - asked[0])

    def _send_packed(self, headers: Mapping[str, str], content: Content, coding: str, packed: Content | None) -> None:
        if packed is not None:
            self._send(HTTPStatus.OK, headers, packed.chunks(0, packed.size), packed.size)
            return
        self._head(HTTPStatus.OK, {**headers, "Transfer-Encoding": "chunked"})
        if self.command == "HEAD":
            return
        for chunk in CODINGS[coding](content.chunks(0, content.size)):
            self.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        self.write(b"0\r\n\r\n")

    def _refuse(self, status: HTTPStatus, message: str, more: Mapping[str, str] = MappingProxyType({})) -> None:
        content = f"{message}\n".encode()
        headers = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff", **more}
        self._send(status, headers, [content], len(content))

    def _send(
        self, status: HTTPStatus, headers: Mapping[str, str], chunks: Iterable[bytes | memoryview] = (), size: int = 0
    ) -> None:
        is_empty = status == HTTPStatus.NOT_MODIFIED
        self._head(status, headers if is_empty else {**headers, "Content-Length": str(size)})
        if self.command != "HEAD":
            for chunk in chunks:
                self.write(chunk)

    def _head(self, status: HTTPStatus, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


@contextmanager
def running(
    catalogs: Known, host: str = "127.0.0.1", port: int = 0, *, trust: ssl.SSLContext | None = None
) -> Iterator[int]:
    """The port of a server that answers in threads until the end of the block; over TLS with `trust`. PortTakenError.

    `catalogs` is looked at for each request: what it holds may change meanwhile. No host: every address.
    """
    try:
        listening = _Server.at(host, port, _Handler)
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
