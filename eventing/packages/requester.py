"""Who asks: the user that the API server names, known by its front proxy's certificate, or the owner of a token."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from shared.adapters.tls import as_ascii
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly

AUTHORITY: Final = "requestheader-client-ca-file"
"""The key of the front proxy's CA in the ConfigMap `kube-system/extension-apiserver-authentication`."""
_ACCOUNT: Final = "system:serviceaccount:"
CONFIG_MAP: Final = ("kube-system", "extension-apiserver-authentication")


@dataclass(frozen=True, slots=True)
class User:
    """A user with groups, as SubjectAccessReviews name them."""

    name: str
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()
    uid: str = ""

    @property
    def tenant(self) -> str:
        """Who counts as one where somebody takes too much: all accounts of a namespace do, as they are made there."""
        is_account = self.name.startswith(_ACCOUNT)
        return self.name.rpartition(":")[0] if is_account else self.name


@dataclass(frozen=True, slots=True)
class FrontProxy:
    """How the API server tells for whom it asks."""

    authority: str = ""
    """The CA of its client certificates, PEM; empty: it cannot be known, so its headers count for nothing."""
    names: tuple[str, ...] = ()
    """The common names that its certificate may have; empty: any."""
    username_headers: tuple[str, ...] = ()
    group_headers: tuple[str, ...] = ()
    extra_prefixes: tuple[str, ...] = ()
    uid_headers: tuple[str, ...] = ()

    @classmethod
    def of(cls, config_map: ReadOnly) -> FrontProxy:
        """What the ConfigMap says; nobody is believed where one of its lists cannot be read."""
        data = fields.strings(config_map, "data")
        try:
            lists = [_listed(data.get(f"requestheader-{key}", "")) for key in _LISTS]
        except ValueError:
            return cls()
        return cls(data.get(AUTHORITY, ""), *lists)

    def user(self, common_names: Iterable[str], headers: Sequence[tuple[str, str]]) -> User | None:
        """The user that a request is made for; None when its certificate or its headers name none.

        `common_names` are those of the verified client certificate, empty without one; `headers` in order.
        """
        found = set(common_names)
        if not self.authority or not found or (self.names and not found & set(self.names)):
            return None
        name = next(iter(_values(headers, self.username_headers)), "")
        if not name:
            return None
        uid = next(iter(_values(headers, self.uid_headers)), "")
        return User(name, tuple(_values(headers, self.group_headers)), self._extra(headers), uid)

    def flaw(self, now: float) -> str:
        """Why no request of the API server can be told from one of anybody else; empty when one can.

        `now` in seconds since 1970. One CA that is still valid is enough.
        """
        if not self.authority:
            return f"ConfigMap {'/'.join(CONFIG_MAP)} cannot be read, or names no CA of the front proxy"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_verify_locations(cadata=as_ascii(self.authority))
        except ssl.SSLError as error:
            return f"the CA of the front proxy cannot be read: {error}"
        ends = [ssl.cert_time_to_seconds(str(one["notAfter"])) for one in context.get_ca_certs()]
        return "" if any(now < end for end in ends) else "the CA of the front proxy has expired"

    def _extra(self, headers: Sequence[tuple[str, str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        found: dict[str, list[str]] = {}
        for header, value in headers:
            for prefix in self.extra_prefixes:
                if header.lower().startswith(prefix.lower()):
                    found.setdefault(unquote(header[len(prefix) :]).lower(), []).append(value)
        return tuple((key, tuple(values)) for key, values in sorted(found.items()))


_LISTS: Final = (
    "allowed-names", "username-headers", "group-headers", "extra-headers-prefix", "uid-headers",
)  # fmt: skip
ANONYMOUS: Final = User("system:anonymous", ("system:unauthenticated",))
"""Who shows neither certificate nor token."""


def common_names(certificate: Mapping[str, object] | None) -> tuple[str, ...]:
    """The common names of a client certificate, as the `ssl` module tells it."""
    subject = (certificate or {}).get("subject") or ()
    pairs = (pair for part in subject for pair in part) if isinstance(subject, tuple) else ()
    return tuple(value for key, value in pairs if key == "commonName")


def reviewed(status: ReadOnly) -> User | None:
    """The owner of a token, from the status of a TokenReview."""
    if not fields.text(status, "user", "username"):
        return None
    extra = fields.part(status, "user", "extra")
    more = tuple((key, fields.texts(extra, key)) for key in sorted(extra))
    user = fields.part(status, "user")
    return User(fields.text(user, "username"), fields.texts(user, "groups"), more, fields.text(user, "uid"))


def access_review(user: User, verb: str, namespace: str, *, subresource: str = "", name: str = "") -> Manifest:
    """The question to the API server whether a user may do that with PackageManifests."""
    attributes = {
        "verb": verb, "group": "packages.operators.coreos.com", "version": "v1", "resource": "packagemanifests",
        "namespace": namespace, "subresource": subresource, "name": name,
    }  # fmt: skip
    spec = {
        "user": user.name, "groups": list(user.groups), "uid": user.uid,
        "extra": {key: list(values) for key, values in user.extra}, "resourceAttributes": attributes,
    }  # fmt: skip
    return {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}


def _listed(text: str) -> tuple[str, ...]:
    """A JSON list of texts; ValueError."""
    found = json.loads(text) if text else []
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError(f"no list of texts: {text[:80]!r}")
    return tuple(found)


def _values(headers: Sequence[tuple[str, str]], names: Sequence[str]) -> list[str]:
    """The values of the first of the headers that is there, in order."""
    for name in names:
        if found := [value for header, value in headers if header.lower() == name.lower() and value]:
            return found
    return []
