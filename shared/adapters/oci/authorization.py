"""The answer to a registry's challenge: Basic, or a Bearer token bought with what we have."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode, urlsplit

import orjson
import urllib3
from urllib3.exceptions import HTTPError

from shared.adapters.oci.credentials import Credentials, Login
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.mirrors import Location
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.transport import Transport, unreachable, whole_body, with_query

_PARAMETER: Final = re.compile(r'([a-zA-Z]+)="([^"]*)"')
_TOKEN_BYTES: Final = 1024 * 1024
_OK: Final = 200
_SERVER_ERROR: Final = 500
_HTTP_PORT: Final = 80
_CLIENT: Final = "olm-functions"


@dataclass(slots=True)
class Authorizer:
    """Keeps the `Authorization` header that each repository accepted."""

    credentials: Credentials
    _headers: dict[tuple[str, str], str] = field(default_factory=dict)

    def header(self, reference: Reference) -> dict[str, str]:
        """The header to send, empty before the first challenge."""
        known = self._headers.get((reference.registry, reference.repository))
        return {"Authorization": known} if known else {}

    def answer(self, location: Location, challenge: str, transport: Transport) -> bool:
        """Learn the header that satisfies a challenge; False when nothing more can be offered."""
        reference = location.reference
        login = self.credentials.of(reference)
        scheme, _, rest = challenge.partition(" ")
        match scheme.lower():
            case "basic" if login:
                header = login.basic
            case "bearer":
                header = "Bearer " + self._token(location, dict(_PARAMETER.findall(rest)), login, transport)
            case _:
                return False
        key = (reference.registry, reference.repository)
        is_new = self._headers.get(key) != header
        self._headers[key] = header
        return is_new

    def _token(self, location: Location, challenge: dict[str, str], login: Login | None, transport: Transport) -> str:
        reference, realm = location.reference, challenge.get("realm", "")
        is_plain_allowed = _may_be_plain(location, realm, transport)
        if not realm.startswith(("https://", "http://") if is_plain_allowed else "https://"):
            raise OciError("Unauthorized", f"{reference}: the registry sends us to {realm!r} for a token: wanted https")
        if login and not self._is_for(location, realm):
            login = None  # nobody has proved that this realm speaks for the registry
        scope = challenge.get("scope") or f"repository:{reference.repository}:pull"
        query = {"scope": scope} | ({"service": challenge["service"]} if "service" in challenge else {})
        try:
            response = _bought(transport, location, realm, query, login=login)
            body = whole_body(response, _TOKEN_BYTES, reference)
            response.release_conn()
        except HTTPError as error:
            raise unreachable(error, realm, str(reference)) from error
        if response.status >= _SERVER_ERROR:
            raise OciError("Unreachable", f"{reference}: {realm} answered {response.status} instead of a token")
        if response.status != _OK:
            raise refused(reference, login)
        return _read_token(reference, body)

    def _is_for(self, location: Location, realm: str) -> bool:
        """Whether a login of the registry may be told to a token service.

        A registry that proved its name with a certificate may name any. Of another one, the service has to be the
        registry itself, or the login has to name it.
        """
        if not (location.is_insecure or location.reference.is_loopback):
            return True
        service = urlsplit(realm)
        return service.hostname == _host_of(location.reference.host) or service.netloc in self.credentials.logins


def _may_be_plain(location: Location, realm: str, transport: Transport) -> bool:
    """Whether tokens may come over http: from the registry itself, if it speaks http, or from where we may go anyway.

    What any other server of this network answers is for others, not for this registry.
    """
    if not (location.reference.is_loopback or location.is_insecure):
        return False
    try:
        service = urlsplit(realm)
        host, port = service.hostname or "", service.port or _HTTP_PORT
    except ValueError:  # not a valid address, which the request tells
        return True
    is_itself = service.netloc == location.reference.host
    return is_itself or transport.rules.is_open or transport.rules.is_named(host, port)


def _host_of(netloc: str) -> str | None:
    return urlsplit(f"//{netloc}").hostname


def _bought(
    transport: Transport, location: Location, realm: str, query: dict[str, str], *, login: Login | None
) -> urllib3.BaseHTTPResponse:
    image, registry = str(location.reference), f"https://{location.reference.host}/"
    if login and login.identity_token:
        form = query | {"grant_type": "refresh_token", "client_id": _CLIENT, "refresh_token": login.identity_token}
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        body = urlencode(form).encode()
        return transport.request("POST", realm, headers, image, content=body, sent_by=registry)
    headers = {"Authorization": login.basic} if login else {}
    return transport.request("GET", with_query(realm, query), headers, image, sent_by=registry)


def _read_token(reference: Reference, body: bytes) -> str:
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        answer = None
    token = (answer.get("token") or answer.get("access_token")) if isinstance(answer, dict) else None
    if not isinstance(token, str) or not token or not (token.isascii() and token.isprintable()):
        raise OciError("Unauthorized", f"{reference}: the registry's token service answered without a token")
    return token


def refused(reference: Reference, login: Login | None) -> OciError:
    """The registry does not let us in."""
    who = f"as {login.user!r}" if login else "without a login"
    what = f"{reference}: {reference.registry} refuses access {who}: the image does not exist or is private"
    todo = "check its name, log in (`docker login`), or name a pull secret in spec.secrets of the CatalogSource"
    return OciError("Unauthorized", f"{what}; {todo}")
