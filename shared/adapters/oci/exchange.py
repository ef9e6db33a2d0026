"""One request to a registry: its address, our authorization, and what its status means."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final, TypeVar
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError

from shared.adapters.oci.authorization import Authorizer, refused
from shared.adapters.oci.credentials import Credentials
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.mirrors import Location
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.transport import Content, Follow, Transport, unreachable

OK: Final = 200
_BAD_REQUEST: Final = 400
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404
_METHOD_NOT_ALLOWED: Final = 405
_REFUSAL_BYTES: Final = 1024
_WANTS_TLS: Final = b"HTTPS server"
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_T = TypeVar("_T")


class Exchange:
    """Requests with one set of credentials; remembers what each registry accepted."""

    def __init__(self, transport: Transport, credentials: Credentials) -> None:
        self.transport = transport
        self._unverified = transport.without_verification()
        self._credentials = credentials
        self._authorizer = Authorizer(credentials)
        self._schemes: dict[str, str] = {}

    @contextmanager
    def open(
        self,
        method: str,
        location: Location,
        path: str,
        headers: Mapping[str, str] = _NONE,
        *,
        content: Content = None,
        desired: Collection[int] = (OK,),
    ) -> Iterator[urllib3.BaseHTTPResponse]:
        """The response to a request about an image; `path` follows its repository, or is a whole address."""
        response = self._reach(method, location, path, headers, content)
        if response.status == _UNAUTHORIZED and self._is_own(response, location):
            challenge = response.headers.get("WWW-Authenticate", "")
            response.drain_conn()
            if self._authorizer.answer(location, challenge, self._transport_to(location)):
                response = self._reach(method, location, path, headers, content)
        try:
            self._check(response, location, desired, is_push=method not in ("GET", "HEAD"))
            yield response
        except BaseException:
            response.close()  # a half-read connection must not serve another request
            raise
        response.drain_conn()
        response.release_conn()

    def retried(self, read: Callable[[], _T], location: Location) -> _T:
        """Read a body, again from its start where the connection broke in the middle."""
        for attempt in range(self.transport.attempts - 1):
            try:
                return read()
            except HTTPError:
                self.transport.pause(attempt)  # the last attempt, below, tells what is wrong
        try:
            return read()
        except HTTPError as error:
            raise unreachable(error, f"https://{location.reference.host}", str(location.reference)) from error

    def _reach(  # why: the parts of one request
        self, method: str, location: Location, path: str, headers: Mapping[str, str], content: Content
    ) -> urllib3.BaseHTTPResponse:
        """Ask; a registry that turns out to speak the other of http and https is asked so from then on."""
        host = location.reference.host
        scheme = self._scheme(location)
        try:
            response = self._send(method, location, path, headers, content)
        except OciError as error:
            if not (location.is_insecure and scheme == "https" and error.reason in ("TLS", "Unreachable")):
                raise
            self._schemes[host] = "http"
            return self._send(method, location, path, headers, content)
        if scheme == "http" and response.status == _BAD_REQUEST and self._wants_tls(location):
            response.close()
            self._schemes[host] = "https"
            return self._send(method, location, path, headers, content)
        return response

    def _wants_tls(self, location: Location) -> bool:
        """Whether a registry says so; asked apart, for the answer to a HEAD has no text."""
        answer = self._send("GET", location, "/v2/", {}, None)
        body = answer.read(_REFUSAL_BYTES)
        answer.close()
        return _WANTS_TLS in body

    def _scheme(self, location: Location) -> str:
        return self._schemes.get(location.reference.host) or ("http" if location.reference.is_loopback else "https")

    def _root(self, location: Location) -> str:
        return f"{self._scheme(location)}://{location.reference.host}/"

    def _is_own(self, response: urllib3.BaseHTTPResponse, location: Location) -> bool:
        """Whether the registry itself answered: another host, to which it redirects, has no claim to its login."""
        return (response.url or "").startswith(self._root(location))

    def _transport_to(self, location: Location) -> Transport:
        return self._unverified if location.is_insecure else self.transport

    def _send(  # why: the parts of one request
        self, method: str, location: Location, path: str, headers: Mapping[str, str], content: Content
    ) -> urllib3.BaseHTTPResponse:
        root = self._root(location)
        base = root if path.startswith("/") else f"{root}v2/{location.reference.repository}/"
        url = path if "://" in path else base + path.removeprefix("/")
        login = (
            self._authorizer.header(location.reference) if url.startswith(root) else {}
        )  # meant for one host, as asked
        follow: Follow = "any" if method == "GET" and path.startswith("blobs/") else "same"
        return self._transport_to(location).request(
            method, url, {**headers, **login}, str(location.reference), content=content, follow=follow
        )

    def _check(
        self, response: urllib3.BaseHTTPResponse, location: Location, desired: Collection[int], *, is_push: bool
    ) -> None:
        status, reference = response.status, location.reference
        if status in desired:
            return
        if status in (_UNAUTHORIZED, _FORBIDDEN):
            if not self._is_own(response, location):
                raise _refused_elsewhere(reference, response.url or "")
            raise refused(reference, self._credentials.of(reference))
        if status == _NOT_FOUND:
            raise OciError(
                "NotFound", f"{reference}: {reference.registry} does not have this image: check its name and tag"
            )
        if is_push and status == _METHOD_NOT_ALLOWED:
            raise OciError("Blocked", f"{reference}: {reference.registry} takes no pushes: name another registry")
        again = "" if is_push else "; it is tried again"
        raise OciError("Unreachable", f"{reference}: {reference.registry} answered {status}{again}")


def _refused_elsewhere(reference: Reference, url: str) -> OciError:
    host = urlsplit(url).netloc.rpartition("@")[2]  # the rest may be signed
    what = f"{reference}: {reference.registry} sends us to {host}, which refuses access, and gets no login of ours"
    return OciError("Unauthorized", f"{what}; ask who runs the registry")
