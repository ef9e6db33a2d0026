"""Validates objects against their schema: all defects at once, with the messages of the real server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from eventing.local.apiserver.failures import Cause, required
from eventing.local.apiserver.resources import Node
from eventing.local.apiserver.schema import ANYTHING, child, items
from shared.domain.crd_safety.fitting import defects
from shared.domain.go.text import from_base64

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float),
    "boolean": (bool,),
}  # fmt: skip


def _has_type(value: Any, desired: str) -> bool:
    if isinstance(value, bool):
        return desired == "boolean"
    if desired == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _PYTHON_TYPES.get(desired, (object,)))


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    return next(
        name for name in ("boolean", "integer", "number", "string", "array", "object") if _has_type(value, name)
    )


def validate(value: Any, node: Node) -> Iterator[Cause]:
    """The defects of an object of a custom kind."""
    for path, text, _ in defects(value, node):
        is_type = " in body must be of type " in text
        yield Cause(path or "<nil>", "FieldValueTypeInvalid" if is_type else _REASONS[text.partition(":")[0]], text)


_REASONS = {
    "Invalid value": "FieldValueInvalid", "Required value": "FieldValueRequired",
    "Unsupported value": "FieldValueNotSupported", "Too many": "FieldValueTooMany", "Too long": "FieldValueTooLong",
}  # fmt: skip
"""Reasons by the first words of the message."""


def repeated(value: Any, node: Node, path: str = "") -> Iterator[Cause]:
    """The items that occur twice in a set or in a keyed list."""
    if node is ANYTHING:
        return
    if isinstance(value, dict):
        for name, item in value.items():
            if isinstance(item, (dict, list)) and (inner := child(node, name)):
                yield from repeated(item, inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        yield from _duplicates(value, node, path)
        inner = items(node)
        for index, item in enumerate(value):
            if isinstance(item, (dict, list)):
                yield from repeated(item, inner, f"{path}[{index}]")


def _duplicates(value: list[Any], node: Node, path: str) -> Iterator[Cause]:
    kind = node.get("x-kubernetes-list-type")
    if kind not in ("set", "map"):
        return
    keys = node.get("x-kubernetes-list-map-keys", ())
    seen = set()
    for index, item in enumerate(value):
        identity = {key: item.get(key) for key in keys} if kind == "map" and isinstance(item, dict) else item
        text = orjson.dumps(identity, option=orjson.OPT_SORT_KEYS).decode()
        if text in seen:
            yield Cause(f"{path}[{index}]", "FieldValueDuplicate", f"Duplicate value: {text}")
        seen.add(text)


def misfit(value: Any, node: Node, path: str = "") -> str:
    """The message about the first value of a built-in kind that Go could not decode; empty when all fit."""
    if value is None or node is ANYTHING:
        return ""
    desired = node.get("type", "")
    if node.get("oneOf"):
        if not isinstance(value, (int, float, str)):
            return f"cannot unmarshal {_type_name(value)} into {path}"
        is_quantity = "format" not in node
        return _QUANTITY_WHY if is_quantity and not _QUANTITY.fullmatch(str(value)) else ""
    if desired and not _has_type(value, desired):
        kind = {"integer": "number"}.get(found := _type_name(value), found)
        return f"json: cannot unmarshal {kind} into Go struct field {path} of type {node.get('format', desired)}"
    if isinstance(value, str) and (sentence := _misformed(value, node.get("format", ""))):
        return sentence
    return _misfit_inside(value, node, path) if isinstance(value, (dict, list)) else ""


def _misfit_inside(value: dict[str, Any] | list[Any], node: Node, path: str) -> str:
    if isinstance(value, dict):
        for name, item in value.items():
            below = child(node, name)
            if below and (sentence := misfit(item, below, f"{path}.{name}" if path else name)):
                return sentence
        return ""
    inner = items(node)
    for item in value:
        if sentence := misfit(item, inner, path):
            return sentence
    return ""


def _misformed(value: str, form: str) -> str:
    if form == "byte":
        try:
            from_base64(value)
        except ValueError as error:
            return str(error)
    if form == "date-time" and value and not _TIME.fullmatch(value):
        return f'parsing time "{value}" as "2006-01-02T15:04:05Z07:00": cannot parse "{value}" as "2006"'
    return ""


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


_QUANTITY = re.compile("([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)")
_QUANTITY_WHY = f"quantities must match the regular expression '^{_QUANTITY.pattern}$'"


def missing(value: Any, node: Node, path: str = "") -> Iterator[Cause]:
    """The required fields of a built-in kind that are absent or empty."""
    if node is ANYTHING:
        return
    if isinstance(value, dict):
        prefix = f"{path}." if path else ""
        for name in node.get("required", ()):
            if value.get(name) in (None, "", []) and prefix + name not in ("metadata", "status"):
                yield required(prefix + name)
        for name, item in value.items():
            if isinstance(item, (dict, list)) and (inner := child(node, name)):
                at = f"{path}[{name}]" if "additionalProperties" in node else prefix + name
                yield from missing(item, inner, at)
    elif isinstance(value, list):
        inner = items(node)
        for index, item in enumerate(value):
            if isinstance(item, (dict, list)):
                yield from missing(item, inner, f"{path}[{index}]")
