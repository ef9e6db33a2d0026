"""What is left of a schema when Kubernetes has decoded it: known keywords only, and none that says nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from shared.api.manifest import ReadOnly
from shared.domain.go.encode import json_text

_SILENT_WHEN_EMPTY: Final = frozenset(
    {
        "id", "$schema", "description", "type", "format", "title", "exclusiveMaximum", "exclusiveMinimum", "pattern",
        "uniqueItems", "required", "nullable", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string",
        "x-kubernetes-list-map-keys", "rule", "message", "messageExpression", "fieldPath", "url",
    }
)  # fmt: skip
"""Keywords whose empty text, empty list or `false` means the same as their absence."""
POINTERS: Final = frozenset(
    {
        "$ref", "maximum", "minimum", "maxLength", "minLength", "maxItems", "minItems", "multipleOf", "maxProperties",
        "minProperties", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-list-type", "x-kubernetes-map-type",
        "reason", "optionalOldSelf",
    }
)  # fmt: skip
"""Keywords for which zero, `false` and an empty text are something other than their absence."""
SCHEMA_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "x-kubernetes-validations"})
SCHEMA_MAPS: Final = frozenset({"properties", "patternProperties", "definitions"})
SCHEMAS: Final = frozenset({"items", "not", "additionalProperties", "additionalItems", "externalDocs"})


def canonical(schema: ReadOnly | None) -> dict[str, Any]:
    """The same for all schemas that Kubernetes takes for equal."""
    read = (
        (key, _READERS[key](value)) for key, value in (schema or {}).items() if key in _READERS and value is not None
    )
    return {key: value for key, value in read if value is not None}


def has_addresses(schema: ReadOnly, *, by_value: bool = False) -> bool:
    """Whether the reference's text of a canonical schema holds memory addresses, which no other text has.

    It prints the values of maps field by field, and numbers that may be absent as the place where they are.
    """
    if by_value and not POINTERS.isdisjoint(schema):
        return True
    lists = (one for key in SCHEMA_LISTS for one in schema.get(key, ()))
    named = (one for key in SCHEMA_MAPS for one in schema.get(key, {}).values())
    alone = (schema[key] for key in SCHEMAS if isinstance(schema.get(key), Mapping))
    return (
        any(has_addresses(one, by_value=by_value) for one in lists)
        or any(has_addresses(one, by_value=True) for one in named)
        or any(map(has_addresses, alone))
    )


def raw(value: Any) -> str:  # why: any JSON value
    """A value as Kubernetes keeps it: compact JSON, sorted, safe for HTML; nothing of a null."""
    return "" if value is None else json_text(value)


def _one(value: Any) -> Any:
    """A schema, a list of some, or the truth value that may stand for one."""
    if isinstance(value, Mapping):
        return canonical(value)
    return _many(value) if isinstance(value, list) else value


def _many(value: Any) -> Any:
    return list(map(canonical, value)) or None


def _named(value: Any) -> Any:
    """Schemas, or lists of texts; anything else is nothing to Go."""
    return {
        name: inner if isinstance(inner, list) else canonical(inner if isinstance(inner, Mapping) else None)
        for name, inner in value.items()
    } or None


def _readers() -> dict[str, Callable[[Any], Any]]:
    return {
        **dict.fromkeys(_SILENT_WHEN_EMPTY, lambda value: value or None),
        **dict.fromkeys(POINTERS, lambda value: value),
        **dict.fromkeys(SCHEMA_LISTS, _many),
        **dict.fromkeys((*SCHEMA_MAPS, "dependencies"), _named),
        **dict.fromkeys(SCHEMAS, _one),
        "default": raw,
        "example": raw,
        "enum": lambda value: list(map(raw, value)) or None,
    }


_READERS: Final = _readers()
