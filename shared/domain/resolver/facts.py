"""What the properties of a bundle say about itself: packages, APIs, labels, deprecation (resolver.md §4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from shared.domain.catalog.model import Property
from shared.domain.semver import InvalidVersion, Version, parse

_API = {"group", "version", "kind"}


class Gvk(NamedTuple):
    """One API."""

    group: str
    version: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind} ({self.group}/{self.version})"


class Named(NamedTuple):
    """One `olm.package` property."""

    name: str
    version: Version | None
    """None when the text is no strict version."""


class Undecodable(ValueError):
    """A value has not the shape that its type asks for."""


@dataclass(frozen=True)
class Facts:
    """The properties of one bundle, read when asked for. A fact that cannot be read is none."""

    properties: tuple[Property, ...]

    @cached_property
    def packages(self) -> tuple[Named, ...]:
        """Its `olm.package` properties, in order."""
        found = []
        for value in self._values("olm.package"):
            try:
                found.append(Named(text(value, "packageName"), _version(text(value, "version"))))
            except Undecodable:
                continue
        return tuple(found)

    @cached_property
    def apis(self) -> tuple[Gvk, ...]:
        """Its `olm.gvk` properties, in order; one that is stated twice is there twice."""
        found = []
        for value in self._values("olm.gvk"):
            try:
                found.append(gvk(value))
            except Undecodable:
                continue
        return tuple(found)

    @cached_property
    def labels(self) -> frozenset[str]:
        """Its labels."""
        found = set()
        for value in self._values("olm.label"):
            try:
                found.add(text(value, "label"))
            except Undecodable:
                continue
        return frozenset(found)

    @property
    def is_deprecated(self) -> bool:
        """Nobody shall install it any more."""
        return any(one.type == "olm.deprecated" for one in self.properties)

    def _values(self, kind: str) -> list[Any]:
        return [one.value for one in self.properties if one.type == kind]


def gvk(value: object) -> Gvk:
    """An API as properties and constraints state it. Undecodable when it is no object of texts."""
    if isinstance(value, dict) and value.keys() == _API:  # as nearly all do
        group, version, kind = value["group"], value["version"], value["kind"]
        if type(group) is type(version) is type(kind) is str:
            return Gvk(group, version, kind)
    return Gvk(text(value, "group"), text(value, "version"), text(value, "kind"))


def text(value: object, key: str) -> str:
    """A field as Go's JSON reads it into a struct: keys in any case, absent and null are empty."""
    if value is None:
        return ""
    if not isinstance(value, Mapping):
        raise Undecodable(f"json: cannot unmarshal {_kind(value)} into Go value of type struct")
    found = ""
    for stated, content in value.items():
        if stated == key or (len(stated) == len(key) and stated.casefold() == key.casefold()):
            if content is not None and not isinstance(content, str):
                raise Undecodable(f"json: cannot unmarshal {_kind(content)} into Go struct field .{key} of type string")
            found = found if content is None else content
    return found


def _kind(value: object) -> str:
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
    return "array"


def _version(stated: str) -> Version | None:
    try:
        return parse(stated)
    except InvalidVersion:
        return None
