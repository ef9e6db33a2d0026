"""Which fields the documents of a catalog have, by schema, and how GraphQL calls them (v1.md §7)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

import msgspec
import orjson

from shared.adapters.catalog_api.line_file import Opened

_MOST_SAMPLES: Final = 10
"""Elements of a list that are looked at."""
_STRING: Final = "String"
_INVALID: Final = re.compile(r"[^a-zA-Z0-9]+")
_Value: TypeAlias = Any  # why: any JSON value


class Field(msgspec.Struct):
    """What is known of a field."""

    type: str
    """Of GraphQL; that of its elements if it is a list."""
    is_list: bool = False
    inner: dict[str, Field] | None = None
    """The fields of its elements where these are objects."""


class Schema(msgspec.Struct):
    """What is known of the documents of one schema."""

    total: int
    fields: dict[str, Field]


Schemas: TypeAlias = dict[str, Schema]


@lru_cache(maxsize=4096)
def field_name(key: str) -> str:
    """The field of a key: in camel case, without what no name may hold."""
    if not key:
        return "value"
    first, *others = [part for part in _INVALID.split(key) if part] or [""]
    first = first.lower() if first.upper() == first else first[0].lower() + first[1:]
    name = first + "".join(part[0].upper() + part[1:].lower() for part in others)
    return name if name[:1].isalpha() else f"field_{name}"


def type_name(text: str) -> str:
    """The type that stands for a schema or a field."""
    parts = _INVALID.sub("_", text).lstrip("0123456789").split("_")
    return "".join(part[0].upper() + part[1:].lower() for part in parts if part) or "Unknown"


def root_name(schema: str) -> str:
    """The field that lists the documents of a schema."""
    return _INVALID.sub("", schema).lower() + "s"


def decoded(content: bytes) -> Schemas:
    """What was discovered, as it is kept. msgspec.DecodeError."""
    return msgspec.json.decode(content, type=Schemas)


def discovered(opened: Opened) -> Schemas:
    """What is known of all documents; what cannot be read is skipped."""
    return {
        schema: _schema(bytes(opened.file[start:end]) for start, end in opened.each(schema))
        for schema in opened.schemas
    }


def _schema(lines: Iterable[bytes]) -> Schema:
    found = Schema(0, {})
    for line in lines:
        if (document := document_of(line)) is not None:
            found.total += 1
            for key, value in document.items():
                _add(found.fields, field_name(key), value)
    return found


def document_of(line: bytes) -> dict[str, _Value] | None:
    """The document of a line; None for one that cannot be read."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _add(fields: dict[str, Field], name: str, value: _Value) -> None:
    """The type is that of the first value; what elements hold is the union over all values."""
    present = fields.get(name)
    if present is None:
        fields[name] = _field(value)
    elif isinstance(value, list) and (inner := _inner(value)) is not None:
        present.inner = {**inner, **(present.inner or {})}


def _field(value: _Value) -> Field:
    if not isinstance(value, list):
        return Field(_type(value))
    samples = [one for one in value[:_MOST_SAMPLES] if one is not None]
    inner, kinds = _inner(value), {_kind(one) for one in samples}
    is_mixed = len(kinds) > 1 and inner is None
    return Field(_STRING if is_mixed or not samples else _type(samples[0]), is_list=True, inner=inner)


def _inner(values: list[_Value]) -> dict[str, Field] | None:
    """The fields of those elements that are objects; None where none is one that has any."""
    found: dict[str, Field] = {}
    for one in values[:_MOST_SAMPLES]:
        if isinstance(one, Mapping):
            for key, value in one.items():
                found.setdefault(field_name(key), _innermost(value))
    return found or None


def _innermost(value: _Value) -> Field:
    """A field of an element: of a list the first element tells its type."""
    if isinstance(value, list):
        return Field(_type(value[0]) if value else _STRING, is_list=True)
    return Field(_type(value))


def _kind(value: _Value) -> type:
    return float if type(value) is int else type(value)


def _type(value: _Value) -> str:
    """A bool is an int in Python, too; an object is a text that holds JSON."""
    if isinstance(value, bool):
        return "Boolean"
    if isinstance(value, int | float):
        return "Int" if float(value).is_integer() else "Float"
    return _STRING
