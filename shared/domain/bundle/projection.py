"""The annotation in which OLM keeps the properties of a ClusterServiceVersion (resolver.md §2.5, csv.md §15.1)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from shared.domain.bundle.shape import is_deep
from shared.domain.catalog.model import Property
from shared.domain.catalog.shapes import RAW, list_of, struct, why_not
from shared.domain.go.json import loads

_PROPERTY: Final = struct("projection.property", "type", value=RAW)
_ANNOTATION: Final = struct("projection.propertiesAnnotation", properties=list_of(_PROPERTY))


def projected(text: str) -> Iterator[Property]:
    """The properties in an annotation, read as Go reads a struct. ValueError."""
    return _properties(_read(text))


def as_written(text: str, kind: str) -> list[str]:
    """The values of one kind of property as JSON, numbers and texts without quotes: 4.10 is not 4.1. ValueError."""
    if is_deep(_read(text)):
        raise ValueError("exceeded max depth")
    values = (one.value for one in _properties(json.loads(text, parse_float=str, parse_int=str)) if one.type == kind)
    return [one.strip('"') if isinstance(one, str) else json.dumps(one, separators=(",", ":")) for one in values]


def _read(text: str) -> Any:  # why: any JSON value
    value = loads(text.encode())
    if why := why_not(_ANNOTATION, value):
        raise ValueError(why)
    return value


def _properties(value: Any) -> Iterator[Property]:
    for one in map(_PROPERTY.read, _ANNOTATION.read(value).get("properties") or ()):
        yield Property(one.get("type") or "", one.get("value"))
