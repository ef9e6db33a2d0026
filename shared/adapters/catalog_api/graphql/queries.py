"""Answers POST requests with a query in GraphQL, each by a process of its own (v1.md §7)."""

from __future__ import annotations

import threading
from http import HTTPStatus
from pathlib import Path
from typing import Final

import msgspec
import orjson
import structlog

from shared.adapters.catalog_api.graphql.fields import decoded, discovered
from shared.adapters.catalog_api.graphql.forks import DeadlineExceeded, Forks, QueryFailed
from shared.adapters.catalog_api.graphql.request import Request
from shared.adapters.catalog_api.lines import Lines
from shared.adapters.content.snapshot import BrokenSnapshot
from shared.adapters.oci.errors import OciError
from shared.adapters.prompt_server import Answer, Later, text_answer

LARGEST_BODY: Final = 1024 * 1024
_LONGEST_QUERY: Final = 100_000
"""Bytes."""
SECONDS: Final = 5.0
"""For one query."""
_RUNNING: Final = 2
WAITING: Final = 8
"""Queries under way, those that run among them; who comes beyond is asked to come again."""
_MEMORY_BYTES: Final = 256 * 1024 * 1024
_FAILED: Final = "500 Internal Server Error"
log = structlog.get_logger()


class _Body(msgspec.Struct):
    query: str = ""


def query_of(body: bytes) -> str | Answer:
    """The query that a body holds, or why there is none that can be answered."""
    try:
        query = msgspec.json.decode(body, type=_Body).query
    except (msgspec.DecodeError, UnicodeDecodeError):
        return text_answer(HTTPStatus.BAD_REQUEST, "Invalid request body")
    if not query:
        return text_answer(HTTPStatus.BAD_REQUEST, "Query cannot be empty")
    if len(query.encode()) > _LONGEST_QUERY:
        return text_answer(HTTPStatus.BAD_REQUEST, "Query too large")
    return query


def prepare(lines: Lines) -> None:
    """Learn which fields a catalog has, so that no client waits for it. OSError, OciError, BrokenSnapshot."""
    _fields(lines)


def _fields(lines: Lines) -> Path:
    return lines.derived("graphql1", lambda opened: msgspec.json.encode(discovered(opened)), decoded)


class Queries:
    """Runs queries, two at a time; what one takes is bounded by its process."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._forks = Forks()
        self._running = threading.Semaphore(_RUNNING)
        self._waiting = threading.Semaphore(WAITING)

    def answer(self, name: str, lines: Lines, query: str) -> Answer | Later:
        """The answer, found in a thread; or that there are too many."""
        if not self._waiting.acquire(blocking=False):
            return text_answer(HTTPStatus.SERVICE_UNAVAILABLE, "503 Service Unavailable", {"Retry-After": "1"})

        def later() -> Answer:
            try:
                with self._running:
                    return self._run(name, lines, query)
            finally:
                self._waiting.release()

        return later

    def _run(self, name: str, lines: Lines, query: str) -> Answer:
        try:
            request = Request(query, str(lines.file()), str(_fields(lines)), _MEMORY_BYTES, self._seconds)
            return _json(self._forks.run(request))
        except DeadlineExceeded:
            late = {"data": None, "errors": [{"message": "context deadline exceeded", "locations": []}]}
            return _json(orjson.dumps(late) + b"\n")
        except QueryFailed as error:
            log.warning("query_failed", catalog=name, error=str(error))
        except (OciError, OSError, BrokenSnapshot) as error:
            log.warning("catalog_unreadable", catalog=name, error=str(error))
        return text_answer(HTTPStatus.INTERNAL_SERVER_ERROR, _FAILED)

    def close(self) -> None:
        """End what waits for queries."""
        self._forks.close()


def _json(content: bytes) -> Answer:
    return Answer(HTTPStatus.OK, {"Content-Type": "application/json"}, (content,), len(content))
