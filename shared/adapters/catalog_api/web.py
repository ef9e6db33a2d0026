"""A catalog over HTTP, as OLM v1's catalogd serves it (v1.md §6, §7), with an ETag and zstd on top."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from email.utils import format_datetime
from http import HTTPStatus
from typing import Final, TypeAlias
from urllib.parse import parse_qs, unquote, urlsplit

import structlog

from shared.adapters import prompt_server
from shared.adapters.catalog_api.codings import CODINGS, chosen
from shared.adapters.catalog_api.conditions import Version, precondition, span
from shared.adapters.catalog_api.errors import PortTakenError
from shared.adapters.catalog_api.graphql.queries import LARGEST_BODY, WAITING, Queries, query_of
from shared.adapters.catalog_api.line_file import Content
from shared.adapters.catalog_api.lines import Lines
from shared.adapters.content.snapshot import BrokenSnapshot
from shared.adapters.http_requests import Head, Headers
from shared.adapters.oci.errors import OciError
from shared.adapters.prompt_server import THREADS, Answer, Asked, Later, text_answer
from shared.domain.syntax import SUBDOMAIN

_ROUTE: Final = re.compile(r"/catalogs/([^/]+)/api/v1/(all|metas|graphql)")
_PROBES: Final = ("/livez", "/readyz")
"""Whoever is answered at all has what is served: it listens once it knows that."""
_GRAPHQL: Final = "graphql"
_READS: Final = ("GET", "HEAD")
_METHODS: Final = {"all": _READS, "metas": _READS, _GRAPHQL: ("POST",)}
_NOT_ALLOWED: Final = {"all": "Method Not Allowed", "metas": "Method Not Allowed", _GRAPHQL: "Only POST is allowed"}
_PARAMETERS: Final = ("schema", "package", "name")
_PACKED_FROM: Final = 1400
"""Bytes; less is not worth packing."""
log = structlog.get_logger()

Known: TypeAlias = Mapping[str, Lines | None]
"""The catalogs that are served, by name; None for one whose content is not here yet."""


class CatalogApi:
    """Answers requests about the catalogs that are served; what they are may change meanwhile."""

    def __init__(self, catalogs: Known, queries: Queries | None = None) -> None:
        """Without `queries` there is no GraphQL."""
        self._catalogs = catalogs
        self._queries = queries

    def takes_body(self, head: Head) -> bool:
        """Whether the body of a request is read: a query's, unless it is too long."""
        try:
            path = urlsplit(head.target).path
        except ValueError:  # `answer` says so
            return False
        route = _ROUTE.fullmatch(path) if self._queries and head.method == "POST" else None
        return route is not None and route[2] == _GRAPHQL and not head.is_longer(LARGEST_BODY)

    def answer(self, head: Head, body: bytes = b"") -> Answer | Later:
        """The answer to a request."""
        try:
            parts = urlsplit(head.target)
        except ValueError:
            return text_answer(HTTPStatus.BAD_REQUEST, "400 Bad Request")
        if parts.path in _PROBES and head.method in _READS:
            return replace(text_answer(HTTPStatus.OK, "ok"), is_probe=True)
        route = _ROUTE.fullmatch(parts.path)
        if route is None or (route[2] == _GRAPHQL and self._queries is None):
            return text_answer(HTTPStatus.NOT_FOUND, "404 page not found", is_last=head.method not in _READS)
        name, kind = unquote(route[1]), route[2]
        if head.method not in _METHODS[kind]:
            return text_answer(HTTPStatus.METHOD_NOT_ALLOWED, _NOT_ALLOWED[kind], is_last=True)
        if problems := SUBDOMAIN.problems(name):
            return text_answer(HTTPStatus.BAD_REQUEST, f"invalid catalog name: {'; '.join(problems)}")
        if kind == _GRAPHQL and self._queries is not None:
            return self._query(name, body, self._queries)
        asked = parse_qs(parts.query, keep_blank_values=True) if kind == "metas" else {}
        if set(asked) - set(_PARAMETERS):
            return text_answer(HTTPStatus.BAD_REQUEST, "400 Bad Request")
        return self._catalog(name, {word: asked[word][0] for word in asked if asked[word][0]}, head)

    def _query(self, name: str, body: bytes, queries: Queries) -> Answer | Later:
        query = query_of(body)
        if isinstance(query, Answer):
            return query
        lines = self._known(name)
        return lines if isinstance(lines, Answer) else queries.answer(name, lines, query)

    def _known(self, name: str) -> Lines | Answer:
        """What is served by this name, or why nothing is."""
        try:
            lines = self._catalogs[name]  # another thread may take it away at any moment
        except KeyError:
            return text_answer(HTTPStatus.NOT_FOUND, "404 Not Found")
        if lines is None:
            return text_answer(HTTPStatus.SERVICE_UNAVAILABLE, "503 Service Unavailable", {"Retry-After": "1"})
        return lines

    def _catalog(self, name: str, desired: Mapping[str, str], head: Head) -> Answer | Later:
        lines = self._known(name)
        if isinstance(lines, Answer):
            return lines
        try:
            content = lines.matching(**desired)
        except (OciError, OSError, BrokenSnapshot) as error:
            log.warning("catalog_unreadable", catalog=name, error=str(error))
            return text_answer(HTTPStatus.INTERNAL_SERVER_ERROR, "500 Internal Server Error")
        version, coding = Version(lines.tag, lines.modified), _coding(head, content.size)
        headers = {
            "Last-Modified": format_datetime(version.modified, usegmt=True), "ETag": version.header(coding),
            "Vary": "Accept-Encoding",
        }  # fmt: skip
        if (status := precondition(head.headers, version)) is not None:
            return Answer(status, headers)
        headers["Content-Type"] = "application/jsonl"
        if not coding:
            return _content(head.headers, headers, content, version)
        headers["Content-Encoding"] = coding
        if (packed := lines.packed(coding, **desired)) is not None:
            return Answer(HTTPStatus.OK, headers, packed.chunks(0, packed.size), packed.size)
        return lambda: _packed(lines, content, headers, desired)


def _packed(lines: Lines, content: Content, headers: Mapping[str, str], desired: Mapping[str, str]) -> Answer:
    """The answer with content that was not packed yet; what is too large to be kept is packed while it is sent."""
    coding = headers["Content-Encoding"]
    if (packed := lines.pack(coding, **desired)) is not None:
        return Answer(HTTPStatus.OK, headers, packed.chunks(0, packed.size), packed.size)
    return Answer(HTTPStatus.OK, headers, CODINGS[coding](content.chunks(0, content.size)), None, is_slow=True)


def _content(asked: Headers, headers: Mapping[str, str], content: Content, version: Version) -> Answer:
    """The content as it is, or the part of it that is asked for."""
    found = span(asked, version, content.size)
    if found is None:
        more = {"Content-Range": f"bytes */{content.size}"}
        return Answer(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, {**headers, "Accept-Ranges": "bytes", **more})
    start, end = found
    is_part = found != (0, content.size)
    part = {"Content-Range": f"bytes {start}-{end - 1}/{content.size}"} if is_part else {}
    status = HTTPStatus.PARTIAL_CONTENT if is_part else HTTPStatus.OK
    return Answer(status, {**headers, "Accept-Ranges": "bytes", **part}, content.chunks(start, end), end - start)


def _coding(head: Head, size: int) -> str:
    """How the answer is packed; empty: not at all. A range is one of the content as it is."""
    if size <= _PACKED_FROM or "Range" in head.headers or head.is_old:
        return ""
    return chosen(head.headers.get("Accept-Encoding"))


@contextmanager
def running(
    catalogs: Known, host: str = "127.0.0.1", port: int = 0, *, trust: ssl.SSLContext | None = None,
    observe: Callable[[HTTPStatus, float], None] = lambda *_: None, queries: Queries | None = None,
) -> Iterator[int]:  # fmt: skip
    """The port of a server that answers until the end of the block; over TLS with `trust`. PortTakenError.

    `catalogs` is looked at for each request: what it holds may change meanwhile. No host: every address.
    `queries` answers GraphQL, in threads of its own, and is closed in the end.
    """
    try:
        listening = prompt_server.listening(host, port)
    except (OSError, OverflowError) as error:
        raise PortTakenError(f"{host}:{port} cannot be listened on: {error}") from error
    api, threads = CatalogApi(catalogs, queries), THREADS + (WAITING if queries else 0)
    asked = Asked(api.answer, takes_body=api.takes_body, observe=observe, threads=threads)
    with closing(queries) if queries else nullcontext(), prompt_server.running(listening, asked, trust=trust) as found:
        yield found
