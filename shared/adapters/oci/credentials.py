"""User names and passwords for registries, as pull secrets hold them."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from shared.adapters.oci.errors import OciError
from shared.adapters.oci.reference import Reference
from shared.api.manifest import ReadOnly

_NO_USER: Final = "<token>"
"""The user name by which a helper says that it keeps a token instead of a password."""
_FILES: Final = (".dockerconfigjson", ".dockercfg")
_DOCKER: Final = frozenset({"docker.io", "index.docker.io", "registry-1.docker.io"})
_HELPER_SECONDS: Final = 30
_DOCKER_REGISTRY: Final = "docker.io"
_DOCKER_HELPER_KEY: Final = "https://index.docker.io/v1/"
_NOT_FOUND: Final = "credentials not found"


@dataclass(frozen=True, slots=True)
class Helpers:
    """Which program is asked for which registry."""

    by_registry: Mapping[str, str] = field(default_factory=dict)
    store: str = ""
    """Asked for all other registries."""

    def ask(self, registry: str) -> tuple[str, str] | None:
        """User name and password, or None when the program knows none. OciError when it cannot be asked."""
        name = self.by_registry.get(registry) or self.store
        if not name:
            return None
        program = f"docker-credential-{name}"
        key = _DOCKER_HELPER_KEY if registry == _DOCKER_REGISTRY else registry
        try:
            run = subprocess.run(
                [program, "get"], input=key, capture_output=True, text=True, timeout=_HELPER_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            what = f"{program}, which keeps the login for {registry}, cannot be asked: {error}"
            raise OciError("Unauthorized", f"{what}; install it, or take it out of config.json") from error
        if run.returncode:
            if _NOT_FOUND in (run.stdout + run.stderr).lower():
                return None
            why = (run.stderr or run.stdout).strip().splitlines()[:1]
            raise OciError("Unauthorized", f"{program} has no login for {registry}: {''.join(why)}; log in again")
        return _helped(program, run.stdout)


def _helped(program: str, answer: str) -> tuple[str, str]:
    try:
        found = orjson.loads(answer)
        return str(found["Username"]), str(found["Secret"])
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise OciError("Unauthorized", f"{program} answered with something that is no login; update it") from error


@dataclass(frozen=True, slots=True)
class Login:
    """A user name and a password."""

    user: str
    password: str = field(repr=False)
    identity_token: str = field(default="", repr=False)
    """Bought once from the registry, in place of the password."""

    @property
    def basic(self) -> str:
        """The value of an `Authorization` header."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()


@dataclass(frozen=True, slots=True)
class Credentials:
    """Logins by registry, or by a registry and the beginning of a repository."""

    logins: Mapping[str, Login] = field(default_factory=dict)
    helpers: Helpers = field(default_factory=Helpers)
    """Asked when no login is here."""

    def of(self, reference: Reference) -> Login | None:
        """The login whose key is the longest beginning of the image's name."""
        parts = f"{reference.registry}/{reference.repository}".split("/")
        for length in range(len(parts), 0, -1):
            if login := self.logins.get("/".join(parts[:length])):
                return login
        if kept := self.helpers.ask(reference.registry):
            return Login(kept[0], "", kept[1]) if kept[0] == _NO_USER else Login(*kept)
        return None

    def identity(self) -> str:
        """What tells these logins from others. It contains them: it is for a keyed hash, and nothing else."""
        return repr(sorted((key, one.user, one.password, one.identity_token) for key, one in self.logins.items()))

    @classmethod
    def of_secrets(cls, secrets: Iterable[ReadOnly]) -> Credentials:
        """The logins of pull secrets, of both types; the first that names a registry wins.

        A secret that cannot be read holds no login: another one may open the image. If none does, the caller says so.
        """
        logins: dict[str, Login] = {}
        for secret in secrets:
            for name in _FILES:
                if name in (data := secret.get("data") or {}):
                    logins = {**_logins(data[name]), **logins}
        return cls(logins)

    @classmethod
    def of_config(cls, content: bytes) -> Credentials:
        """The logins of a `config.json` of Docker or Podman."""
        document = _document(content)
        store, helpers = document.get("credsStore"), document.get("credHelpers")
        by_registry = {str(key): str(name) for key, name in helpers.items()} if isinstance(helpers, dict) else {}
        return cls(_entries(content), Helpers(by_registry, store if isinstance(store, str) else ""))

    def over(self, other: Credentials) -> Credentials:
        """Both; where both know a registry, these count."""
        helpers = Helpers(
            {**other.helpers.by_registry, **self.helpers.by_registry}, self.helpers.store or other.helpers.store
        )
        return Credentials({**other.logins, **self.logins}, helpers)


ANONYMOUS: Final = Credentials()


def _logins(encoded: str) -> dict[str, Login]:
    try:
        return _entries(base64.b64decode(encoded))
    except (ValueError, TypeError):  # not base64, or not even a text
        return {}


def _document(content: bytes) -> dict[str, Any]:
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        return {}
    return document if isinstance(document, dict) else {}


def _entries(content: bytes) -> dict[str, Login]:
    document = _document(content)
    auths = document.get("auths", document)
    found = {}
    for key, entry in auths.items() if isinstance(auths, dict) else ():
        if isinstance(entry, dict) and (login := _login(entry)):
            found[_name(key)] = login
    return found


def _login(entry: ReadOnly) -> Login | None:
    if token := entry.get("identitytoken"):
        return Login("", "", str(token))
    if auth := entry.get("auth"):
        try:
            user, colon, password = base64.b64decode(auth).decode().partition(":")
        except (ValueError, TypeError):
            return None
        return Login(user, password) if colon else None
    if entry.get("username"):
        return Login(str(entry["username"]), str(entry.get("password") or ""))
    return None


def _name(key: str) -> str:
    """`https://index.docker.io/v1/` and the like as the name that references use."""
    name = key.removeprefix("https://").removeprefix("http://").rstrip("/")
    for suffix in ("/v1", "/v2"):
        name = name.removesuffix(suffix)
    host, slash, path = name.partition("/")
    return ("docker.io" if host in _DOCKER else host) + slash + path
