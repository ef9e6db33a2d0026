"""The answer to a registry's challenge: Basic, or a Bearer token bought with what we have."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

import orjson
import urllib3

from shared.adapters.oci.credentials import Credentials, Login
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.transport import Transport

_PARAMETER: Final = re.compile(r'([a-zA-Z]+)="([^"]*)"')
_TOKEN_BYTES: Final = 1024 * 1024
_OK: Final = 200
_SERVER_ERROR: Final = 500
_CLIENT: Final = "olm-functions"


@dataclass(slots=True)
class Authorizer:
    """Keeps the `Authorization` header that each repository accepted."""

    transport: Transport
    credentials: Credentials
    _headers: dict[tuple[str, str], str] = field(default_factory=dict)

    def header(self, reference: Reference) -> dict[str, str]:
        """The header to send, empty before the first challenge."""
        known = self._headers.get((reference.registry, reference.repository))
        return {"Authorization": known} if known else {}

    def answer(self, reference: Reference, challenge: str) -> bool:
        """Learn the header that satisfies a challenge; False when nothing more can be offered."""
        login = self.credentials.of(reference)
        scheme, _, rest = challenge.partition(" ")
        match scheme.lower():
            case "basic" if login:
                header = login.basic
            case "bearer":
                header = "Bearer " + self._token(reference, dict(_PARAMETER.findall(rest)), login)
            case _:
                return False
        key = (reference.registry, reference.repository)
        is_new = self._headers.get(key) != header
        self._headers[key] = header
        return is_new

    def _token(self, reference: Reference, challenge: dict[str, str], login: Login | None) -> str:
        realm = challenge.get("realm", "")
        if not realm.startswith(("https://", "http://") if reference.is_loopback else "https://"):
            raise OciError("Unauthorized", f"{reference}: the registry sends us to {realm!r} for a token: wanted https")
        scope = challenge.get("scope") or f"repository:{reference.repository}:pull"
        query = {"scope": scope} | ({"service": challenge["service"]} if "service" in challenge else {})
        response = self._buy(reference, realm, query, login)
        try:
            body = response.read(_TOKEN_BYTES)
        finally:
            response.release_conn()
        if response.status >= _SERVER_ERROR:
            raise OciError("Unreachable", f"{reference}: {realm} answered {response.status} instead of a token")
        if response.status != _OK:
            raise refused(reference, login)
        return _read_token(reference, body)

    def _buy(
        self, reference: Reference, realm: str, query: dict[str, str], login: Login | None
    ) -> urllib3.BaseHTTPResponse:
        if login and login.identity_token:
            form = query | {"grant_type": "refresh_token", "client_id": _CLIENT, "refresh_token": login.identity_token}
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            return self.transport.request("POST", realm, headers, str(reference), content=urlencode(form).encode())
        headers = {"Authorization": login.basic} if login else {}
        return self.transport.request("GET", f"{realm}?{urlencode(query)}", headers, str(reference))


def _read_token(reference: Reference, body: bytes) -> str:
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        answer = None
    token = (answer.get("token") or answer.get("access_token")) if isinstance(answer, dict) else None
    if not isinstance(token, str) or not token:
        raise OciError("Unauthorized", f"{reference}: the registry's token service answered without a token")
    return token


def refused(reference: Reference, login: Login | None) -> OciError:
    """The registry does not let us in."""
    who = f"as {login.user!r}" if login else "without a login"
    what = f"{reference}: {reference.registry} refuses access {who}: the image does not exist or is private"
    todo = "check its name, log in (`docker login`), or name a pull secret in spec.secrets of the CatalogSource"
    return OciError("Unauthorized", f"{what}; {todo}")
