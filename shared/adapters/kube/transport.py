"""Sends HTTP requests to one API server over a pool of connections, and decodes the answers."""

from __future__ import annotations

import random
import re
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlencode

import orjson
import urllib3

from shared.adapters.kube import patience
from shared.adapters.kube.connection import Connection
from shared.adapters.kube.decoding import decoded
from shared.adapters.kube.errors import ApiError, seconds_of
from shared.api.manifest import Manifest

POOL_SIZE = 16
"""Number of connections kept open, of the runs of a worker and of the threads in which they ask for several things at
once; further threads open and close their own."""

THROTTLED_TRIES = 3
"""How often a request is sent again that the server throttled: after ten seconds each, at most."""

PRESENT_RUN: ContextVar[str] = ContextVar("PRESENT_RUN", default="")
"""The id of the run of a step that goes on in this thread, for the audit log of the API server."""

_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
"""One warning in the header `Warning`: code, agent, quoted text."""


class Reply(NamedTuple):
    """The answer to a request."""

    status: int
    body: bytes
    warnings: tuple[str, ...] = ()
    retry_after: str = ""


class Transport:
    """Sends requests; a refusal or a missing answer is an `ApiError`.

    The API server writes what a run of a step asked for into its audit log under `<id of the run>.<number>`.
    """

    is_remote = True
    """Whether this process can do something else while an answer is on its way."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.requests_made = 0
        """The number of requests sent."""
        self._heard = threading.local()
        self._resting_until = 0.0
        """When the server may be asked again, which was too busy."""
        self._lock = threading.Lock()
        self._made = (tls := connection.tls, _pool(connection, tls))
        """The pool of connections, and what verifies the server in it."""

    def request(
        self,
        method: str,
        path: str,
        body: Manifest | None = None,
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
        accept: str = "application/json",
        acting_as: str = "",
    ) -> Manifest:
        """Send one request; returns the decoded answer. ApiError when its status is not 2xx.

        `acting_as` is the user with whose rights it is answered; of a ServiceAccount the server knows the groups.
        """
        headers = {"Accept": accept, "User-Agent": self.connection.agent, "Content-Type": content_type}
        if authorization := self.connection.authorization():
            headers["Authorization"] = authorization
        if acting_as:
            headers["Impersonate-User"] = acting_as
        self.requests_made += 1
        if run := PRESENT_RUN.get():
            headers["Audit-ID"] = f"{run}.{self.requests_made}"
        payload = orjson.dumps(body) if body is not None else None
        reply = self._patiently(lambda: self.exchange(method, path, payload, headers, query=query or {}))
        if method != "GET":
            self._heard.warnings = reply.warnings
        if not 200 <= reply.status < 300:
            raise ApiError.of_response(reply.status, reply.body, reply.retry_after)
        return self._decode(reply.body, path)

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], *, query: Mapping[str, str]
    ) -> Reply:
        """Send one request; returns the answer with any status. ApiError without an answer."""
        url = self.connection.server + path + ("?" + urlencode(query) if query else "")
        retries = patience.READS if method == "GET" else patience.WRITES
        try:
            response = self._connections().request(
                method, url, body=body, headers=headers, timeout=patience.timeout(), retries=retries
            )
        except urllib3.exceptions.HTTPError as error:
            raise ApiError(0, "Unreachable", f"{self.connection.origin}: {_cause(error)}") from error
        warnings, retry_after = (response.headers.get(name, "") for name in ("Warning", "Retry-After"))
        return Reply(response.status, response.data, _warnings(warnings), retry_after)

    def _patiently(self, exchange: Callable[[], Reply]) -> Reply:
        """Ask again when the server, which is too busy, wants that; it did not look at a request that it throttles.

        Meanwhile no thread of this client asks for anything.
        """
        for tries_left in range(THROTTLED_TRIES, -1, -1):
            rest = max(0.0, self._resting_until - time.monotonic())
            if rest >= patience.seconds_left():
                raise ApiError(0, "Unreachable", f"{self.connection.origin}: no time left in this run to ask it")
            if rest:
                time.sleep(rest)
            reply = exchange()
            pause = seconds_of(reply.retry_after) if reply.status == HTTPStatus.TOO_MANY_REQUESTS else 0.0
            if not (pause and tries_left):
                break
            self._resting_until = time.monotonic() + pause * random.uniform(1.0, 1.2)  # noqa: S311  # jitter
        return reply

    def _decode(self, data: bytes, path: str) -> Manifest:
        try:
            answer = decoded(data)
        except ValueError as error:
            raise ApiError(0, "Unreachable", f"{self.connection.origin}{path}: the answer is not JSON") from error
        if not isinstance(answer, dict):
            raise ApiError(0, "Unreachable", f"{self.connection.origin}{path}: the answer is not an object")
        return answer

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings in the answer of the server to the last write of this thread."""
        return getattr(self._heard, "warnings", ())

    def close(self) -> None:
        """Close the idle connections."""
        self._connections().clear()

    def _connections(self) -> urllib3.PoolManager:
        """The pool; a new one when the certificates were replaced, which those that are open do not heed."""
        tls = self.connection.tls
        with self._lock:
            before, pool = self._made
            if tls is not before:
                pool.clear()
                self._made = (tls, _pool(self.connection, tls))
            return self._made[1]


def _pool(connection: Connection, tls: ssl.SSLContext | None) -> urllib3.PoolManager:
    settings: dict[str, Any] = {"maxsize": POOL_SIZE}
    if tls is not None:
        settings["ssl_context"] = tls
        if connection.server_name:
            settings["server_hostname"] = connection.server_name
        if not tls.check_hostname:
            # why: the kubeconfig demands it; without `cert_reqs` urllib3 verifies all the same, or warns each time
            settings["cert_reqs"] = "CERT_NONE"
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    return urllib3.ProxyManager(connection.proxy, **settings) if connection.proxy else urllib3.PoolManager(**settings)


def _warnings(header: str) -> tuple[str, ...]:
    return tuple(re.sub(r"\\(.)", r"\1", text) for text in _WARNING.findall(header))


def _cause(error: BaseException) -> str:
    """The message of the innermost exception that urllib3 wrapped."""
    while isinstance(reason := getattr(error, "reason", None), BaseException):
        error = reason
    return str(error)
