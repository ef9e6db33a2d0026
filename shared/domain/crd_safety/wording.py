"""Changes that no check knows, as the reference words them: Go's names and Go's values."""

from __future__ import annotations

from typing import Any, Final

from shared.domain.crd_safety.canonical import POINTERS, raw
from shared.domain.go.float import plain_text
from shared.domain.go.text import quoted

_KEYWORDS: Final = (
    "id", "$schema", "$ref", "format", "title", "exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "multipleOf",
    "allOf", "anyOf", "not", "additionalProperties", "patternProperties", "dependencies", "additionalItems",
    "definitions", "externalDocs", "example", "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-validations",
)  # fmt: skip
"""In the order of the struct that Go decodes a schema into."""
_NAMES: Final = {"id": "ID", "$schema": "Schema", "$ref": "Ref"}
_TEXTS: Final = frozenset({"id", "$schema", "format", "title"})
_TRUTHS: Final = frozenset(
    {
        "exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
    }
)  # fmt: skip


def worded(changes: dict[str, list[Any]]) -> str:
    """All changes of a schema: keyword to what it was and what it is, both as Kubernetes reads them."""
    parts = (
        f"{_field(key)} {_value(key, changes[key][0])} -> {_value(key, changes[key][1])}"
        for key in _KEYWORDS
        if key in changes
    )
    return "; ".join(parts)


def _field(key: str) -> str:
    if key in _NAMES:
        return _NAMES[key]
    if key.startswith("x-kubernetes-"):
        return "X" + "".join(part.capitalize() for part in key.removeprefix("x-kubernetes-").split("-"))
    return key[:1].upper() + key[1:]


def _value(key: str, value: Any) -> str:
    if key in _TEXTS:
        return quoted(value or "")
    if key in _TRUTHS:
        return raw(bool(value))
    if value is None:
        return "nil"
    if key in POINTERS:
        return f"&{_pointed(value)}"
    if key == "x-kubernetes-list-map-keys":
        return f"[]string{{{', '.join(map(quoted, value))}}}"
    return "<complex value>"


def _pointed(value: str | float) -> str:
    if isinstance(value, str):
        return quoted(value)
    return raw(value) if isinstance(value, bool) else plain_text(value)
