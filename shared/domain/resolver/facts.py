"""What the properties of a bundle say about itself: packages, APIs, labels, deprecation (resolver.md §4.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from shared.domain.catalog.model import Property
from shared.domain.go.json import kind_of, misfit
from shared.domain.go.text import fold
from shared.domain.semver import Version, version_or_none

_PACKAGE = ("packageName", "version")
_API = ("group", "version", "kind")


class Gvk(NamedTuple):
    """One API."""

    group: str
    version: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind} ({self.group}/{self.version})"


class PackageVersion(NamedTuple):
    """One `olm.package` property."""

    name: str
    version: Version | None
    """None when the text is no strict version."""


class Undecodable(ValueError):
    """The value of a property does not have the shape that the type of the property demands."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the properties of one bundle say. A property whose value cannot be read is left out."""

    properties: tuple[Property, ...]
    packages: tuple[PackageVersion, ...]
    """Its `olm.package` properties, in order."""
    apis: tuple[Gvk, ...]
    """Its `olm.gvk` properties, in order; duplicates are kept."""
    labels: frozenset[str]
    is_deprecated: bool
    """It has the property `olm.deprecated`, so it is not installed any more."""


class Reader:
    """Reads property values, each object once: the versions of a package mostly share theirs."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], tuple[Property, Any]] = {}

    def facts(self, properties: tuple[Property, ...]) -> Facts:
        """What the properties say."""
        found: dict[str, list[Any]] = {kind: [] for kind in _READERS}
        for one in properties:
            if one.type in found and (fact := self._read(one)) is not None:
                found[one.type].append(fact)
        return Facts(
            properties,
            tuple(found["olm.package"]),
            tuple(found["olm.gvk"]),
            frozenset(found["olm.label"]),
            is_deprecated=bool(found["olm.deprecated"]),
        )

    def _read(self, entry: Property) -> Any:
        """A fact, or None. The property is kept in memory, so that its id() is not given to another object."""
        key = (entry.type, id(entry.value))
        if key not in self._known:
            try:
                fact = _READERS[entry.type](entry.value)
            except Undecodable:
                fact = None
            self._known[key] = (entry, fact)
        return self._known[key][1]


def gvk(value: object) -> Gvk:
    """The API in a property or a constraint. Undecodable when the value is not an object of strings."""
    return Gvk(*texts(value, _API))


def text(value: object, key: str) -> str:
    """A string field as Go's JSON decoder reads it: the key in any case, absent and null as empty. Undecodable."""
    if value is None:
        return ""
    if not isinstance(value, Mapping):
        raise Undecodable(misfit(kind_of(value), "struct"))
    found = ""
    for name, content in value.items():
        if name == key or fold(name) == fold(key):
            if content is not None and not isinstance(content, str):
                raise Undecodable(misfit(kind_of(content), "string", f".{key}"))
            found = found if content is None else content
    return found


def texts(value: object, keys: tuple[str, ...]) -> Sequence[str]:
    """Several string fields; the fast path is an object with exactly these keys, which nearly all have. Undecodable."""
    if isinstance(value, dict) and len(value) == len(keys):
        found: list[Any] = [value.get(key) for key in keys]
        if set(map(type, found)) == {str}:
            return found
    return [text(value, key) for key in keys]


def _package(value: object) -> PackageVersion:
    name, version = texts(value, _PACKAGE)
    return PackageVersion(name, version_or_none(version))


_READERS: Mapping[str, Callable[[object], object]] = {
    "olm.package": _package,
    "olm.gvk": gvk,
    "olm.label": lambda value: text(value, "label"),
    "olm.deprecated": lambda _: True,
}
