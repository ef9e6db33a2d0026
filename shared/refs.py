"""The identity of one object, which exists only with valid names: no other text gets into paths, keys and lists."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from shared.api.manifest import ReadOnly, metadata
from shared.api.views import Object

LONGEST_NAME = 253
"""Maximum number of characters of a name; Kubernetes bounds path segments less, but we have no use for longer ones."""
_LONGEST_LABEL = 63

_LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_SEGMENT = re.compile(r"(?!\.{1,2}\Z)[^/%\ud800-\udfff]+")
_NAMESPACE = re.compile(_LABEL)
_VERSION = re.compile("[a-z](?:[-a-z0-9]*[a-z0-9])?")
_KIND = re.compile("[A-Za-z](?:[-A-Za-z0-9]*[A-Za-z0-9])?")
_PLAIN = re.compile(r"[-A-Za-z0-9._:*]+")
_ENCODED = re.compile("(?:%[0-9A-F]{2})+")
_TO_ENCODE = re.compile(r"[^-A-Za-z0-9._:*]+")

_STRICT_GROUPS = frozenset(("", "apps", "batch", "operators.coreos.com", "apiextensions.k8s.io", "config.openshift.io"))
"""API groups in which every name is a DNS-1123 subdomain, but those of Events. Roles, bindings and APIServices have
other names (`system:node`, `v1.`), and so may kinds of other groups, which an aggregated API server may serve."""


class InvalidName(ValueError):  # why: it names what is wrong, as `RetryLater` and `Terminal` do
    """A text that cannot be the name, namespace, kind or version of an object; the message quotes it."""


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """Identity of one object, namespaced or not; never its content. InvalidName when no object can have it.

    As text: `<apiVersion>/<kind>/<namespace>/<name>`, the namespace empty for cluster-scoped objects,
    e.g. `operators.coreos.com/v1alpha1/Subscription/olm/etcd`, `v1/Namespace//olm`. The text is one word: what of
    a name is not a letter, digit or one of `-._:*` is percent-encoded.
    """

    api_version: str
    kind: str
    name: str
    namespace: str = ""

    def __post_init__(self) -> None:
        pattern = names_of(self.api_version, self.kind)
        if not pattern.fullmatch(self.name) or len(self.name) > LONGEST_NAME:
            raise InvalidName(f"{_quoted(self.name)} is no name of a {self.kind}: wanted {_EXPECTED[pattern]}")
        if self.namespace:
            check_namespace(self.namespace)

    def __str__(self) -> str:
        return f"{self.api_version}/{self.kind}/{self.namespace}/{encoded(self.name)}"

    @classmethod
    def parse(cls, text: str) -> Ref:
        """The inverse of `str`. Raises InvalidName, which quotes the text, when it is not a ref."""
        try:
            match text.split("/"):
                case [version, kind, namespace, name]:
                    return cls(version, kind, decoded(name), namespace)
                case [group, version, kind, namespace, name]:
                    return cls(f"{group}/{version}", kind, decoded(name), namespace)
        except InvalidName as error:
            raise InvalidName(f"{_quoted(text)} is not a ref: {error}") from error
        raise InvalidName(f"{_quoted(text)} is not a ref: wanted apiVersion/kind/namespace/name")

    @classmethod
    def of(cls, found: ReadOnly | Object) -> Ref:
        """The identity in the apiVersion, kind and metadata of an object. InvalidName when they are not valid."""
        manifest = found.raw if isinstance(found, Object) else found
        meta = metadata(manifest)
        return _made(
            str(manifest.get("apiVersion") or ""),
            str(manifest.get("kind") or ""),
            str(meta.get("name") or ""),
            str(meta.get("namespace") or ""),
        )

    @classmethod
    def read(cls, found: ReadOnly | Object) -> Ref | None:
        """The identity in an object that somebody else made; None when no object can have it."""
        try:
            return cls.of(found)
        except InvalidName:
            return None


_made = lru_cache(maxsize=4096)(Ref)
"""Refs of objects that come again and again: the same parts make the same ref."""


def misnamed(manifest: ReadOnly) -> str:
    """Why no object can have the identity in a manifest that somebody else made; empty when one can."""
    try:
        Ref.of(manifest)
    except InvalidName as error:
        return f"{manifest.get('kind')} {_quoted(str(metadata(manifest).get('name') or ''))}: {error}"
    return ""


@lru_cache(maxsize=1024)
def names_of(api_version: str, kind: str) -> re.Pattern[str]:
    """The pattern of the names of a kind. InvalidName when no kind can be called so."""
    group, slash, version = api_version.rpartition("/")
    if slash and (not _SUBDOMAIN.fullmatch(group) or len(group) > LONGEST_NAME):
        raise InvalidName(f"{_quoted(group)} is no API group: wanted {_EXPECTED[_SUBDOMAIN]}")
    if not _VERSION.fullmatch(version) or len(version) > _LONGEST_LABEL:
        raise InvalidName(f"{_quoted(api_version)} is no apiVersion: wanted e.g. v1 or apps/v1")
    if not _KIND.fullmatch(kind) or len(kind) > _LONGEST_LABEL:
        raise InvalidName(f"{_quoted(kind)} is no kind: wanted letters and digits")
    if group == "" and kind == "Namespace":
        return _NAMESPACE
    return _SUBDOMAIN if group in _STRICT_GROUPS and kind != "Event" else _SEGMENT


def is_possible(api_version: str, kind: str) -> bool:
    """Whether there can be a kind called so."""
    try:
        names_of(api_version, kind)
    except InvalidName:
        return False
    return True


@lru_cache(maxsize=4096)
def check_namespace(text: str) -> None:
    """InvalidName unless the text can be the name of a Namespace."""
    if not _NAMESPACE.fullmatch(text) or len(text) > _LONGEST_LABEL:
        raise InvalidName(f"{_quoted(text)} is no namespace: wanted {_EXPECTED[_NAMESPACE]}")


_EXPECTED = {
    _SUBDOMAIN: f"lower case letters, digits, '-' and '.', at most {LONGEST_NAME}",
    _SEGMENT: f"no '/' or '%', not '.' or '..', at most {LONGEST_NAME} characters",
    _NAMESPACE: f"lower case letters, digits and '-', at most {_LONGEST_LABEL}",
}


def encoded(name: str) -> str:
    """A name as one word: what is not a letter, digit or one of `-._:*` is percent-encoded."""
    return name if _PLAIN.fullmatch(name) else _TO_ENCODE.sub(_percent, name)


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def decoded(text: str) -> str:
    """The inverse of `encoded`. InvalidName when the bytes are no text."""
    if "%" not in text:
        return text
    try:
        return _ENCODED.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode(), text)
    except UnicodeDecodeError as error:
        raise InvalidName(f"{_quoted(text)} is no encoded name: {error.reason}") from error


def _quoted(text: str) -> str:
    return repr(text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}…")
