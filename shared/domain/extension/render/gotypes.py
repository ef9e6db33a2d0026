"""Objects as Go's types hold them once they were converted: known fields only, in their order, empty ones left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from shared.api.manifest import Manifest
from shared.domain.bundle.csvtypes import CSV_TYPES
from shared.domain.bundle.podtypes import POD_TYPES
from shared.domain.extension.render.definitiontypes import DEFINITION_TYPES
from shared.domain.extension.render.goscalars import READERS, ZEROES, MisfitError, Reader, kind_of

_SINCE_1_36: Final = ("workloadRef:*WorkloadReference", "schedulingGroup:*PodSchedulingGroup")
"""A field of a pod that this release of OLM v1 knows instead of another."""
_ALWAYS: Final = frozenset("qx")
"""Types that are never empty to Go."""
_SCHEMA: Final = "JSONSchemaProps"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a type."""

    name: str
    type: str
    is_required: bool
    """It is written even when it is empty."""

    @property
    def is_pointer(self) -> bool:
        """Whether absent differs from empty."""
        return self.type.startswith("*")


@cache
def structs() -> Mapping[str, tuple[Field, ...]]:
    """All types, by name."""
    found: dict[str, tuple[Field, ...]] = {}
    text = (POD_TYPES + CSV_TYPES).replace(*_SINCE_1_36) + DEFINITION_TYPES
    for paragraph in filter(None, text.replace("\n  ", " ").splitlines()):
        name, *words = paragraph.split()
        found[name] = tuple(map(_field, words))
    return found


def _field(word: str) -> Field:
    named, _, kind = word.partition(":")
    return Field(named.removesuffix("!"), kind, named.endswith("!"))


def converted(value: object, name: str) -> Manifest:
    """An object as the type of that name. MisfitError, in the words of Go, when it does not fit."""
    found: Manifest = _reader(name)(value)
    return found


@cache
def _reader(kind: str) -> Reader:
    kind = kind.removeprefix("*")
    if kind in READERS:
        return READERS[kind]
    if kind.startswith("["):
        return _list_reader(kind[1:-1])
    if kind.startswith("{"):
        return _map_reader(kind[1:-1])
    return _UNIONS[kind] if kind in _UNIONS else _struct_reader(kind)


def _list_reader(kind: str) -> Reader:
    def read(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise MisfitError(f"cannot restore slice from {kind_of(value)}")
        item = _reader(kind)
        return [zero(kind) if one is None else item(one) for one in value]

    return read


def _map_reader(kind: str) -> Reader:
    def read(value: Any) -> Manifest:
        if not isinstance(value, Mapping):
            raise MisfitError(f"cannot restore map from {kind_of(value)}")
        item = _reader(kind)
        return {key: zero(kind) if value[key] is None else item(value[key]) for key in sorted(value)}

    return read


def _struct_reader(name: str) -> Reader:
    fields = {field.name: field for field in structs()[name]}
    order = {field: number for number, field in enumerate(fields)}
    kept = {field.name for field in fields.values() if _is_kept(field)}

    def read(value: Any) -> Manifest:
        if not isinstance(value, Mapping):
            raise MisfitError(f"cannot restore struct from: {kind_of(value)}")
        written: Manifest = {}
        for key in sorted((value.keys() & fields.keys()) | kept, key=order.__getitem__):
            field, stated = fields[key], value.get(key)
            if stated is None:
                if key in kept:
                    written[key] = zero(field.type)
                continue
            found = _reader(field.type)(stated)
            if key in kept or field.is_pointer or found not in ("", False, [], {}):
                written[key] = found
        return written

    return read


def _is_kept(field: Field) -> bool:
    return field.is_required or field.type in _ALWAYS or field.type in structs()


def zero(kind: str) -> Any:
    """What Go writes for a value that nobody stated."""
    return converted({}, kind) if kind in structs() else ZEROES.get(kind)


def _schema_or_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, Mapping):
        return converted(value, _SCHEMA)
    raise MisfitError("boolean or JSON schema expected")


def _schema_or_schemas(value: Any) -> Any:
    if isinstance(value, list):
        return _reader(f"[{_SCHEMA}]")(value) or None
    return converted(value, _SCHEMA) if isinstance(value, Mapping) else None


def _schema_or_texts(value: Any) -> Any:
    if isinstance(value, list):
        return _reader("[]")(value) or None
    return converted(value, _SCHEMA) if isinstance(value, Mapping) else None


_UNIONS: Final[Mapping[str, Reader]] = {"s": _schema_or_boolean, "a": _schema_or_schemas, "d": _schema_or_texts}
