"""Validates objects against their schema: all defects at once, with the messages of the real server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any

import orjson

from eventing.sandbox.failures import Cause, bad_value, required, unsupported
from eventing.sandbox.resources import Node, resolve
from eventing.sandbox.schema import child, items

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float),
    "boolean": (bool,),
}  # fmt: skip


def _has_type(value: Any, wanted: str) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"
    if wanted == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _PYTHON_TYPES.get(wanted, (object,)))


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    return next(
        name for name in ("boolean", "integer", "number", "string", "array", "object") if _has_type(value, name)
    )


def validate(value: Any, node: Node, path: str = "") -> Iterator[Cause]:
    """The defects of a value of a custom kind."""
    if value is None and node.get("nullable"):
        return
    if (problem := _wrong_type(value, node, path)) is not None:
        yield problem
        return
    yield from _scalar(value, node, path)
    yield from _combined(value, node, path)
    if isinstance(value, dict):
        yield from _object(value, node, path)
    elif isinstance(value, list):
        yield from _list(value, node, path)


def _wrong_type(value: Any, node: Node, path: str) -> Cause | None:
    if node.get("x-kubernetes-int-or-string"):
        wanted = "" if isinstance(value, (int, str)) and not isinstance(value, bool) else "integer,string"
    else:
        wanted = node.get("type", "")
        wanted = "" if not wanted or _has_type(value, wanted) else wanted
    if not wanted:
        return None
    kind = _type_name(value)
    sentence = f'Invalid value: "{kind}": {path} in body must be of type {wanted}: "{kind}"'
    return Cause(path, "FieldValueTypeInvalid", sentence)


def _object(value: dict[str, Any], node: Node, path: str) -> Iterator[Cause]:
    prefix = f"{path}." if path else ""
    for name in node.get("required", ()):
        if name not in value:
            yield required(prefix + name)
    if len(value) < node.get("minProperties", 0):
        yield bad_value(path, len(value), f"{path} in body should have at least {node['minProperties']} properties")
    for name, item in value.items():
        inner = child(node, name)
        if inner is not None:
            yield from validate(item, inner, prefix + name)


def _list(value: list[Any], node: Node, path: str) -> Iterator[Cause]:
    if "maxItems" in node and len(value) > node["maxItems"]:
        most = f"{node['maxItems']} item{'s' if node['maxItems'] != 1 else ''}"
        yield Cause(path, "FieldValueTooMany", f"Too many: {len(value)}: must have at most {most}")
    if len(value) < node.get("minItems", 0):
        sentence = f"{path} in body should have at least {node['minItems']} items"
        yield bad_value(path, len(value), sentence)
    yield from duplicates(value, node, path)
    inner = items(node)
    for index, item in enumerate(value):
        yield from validate(item, inner, f"{path}[{index}]")


def duplicates(value: list[Any], node: Node, path: str) -> Iterator[Cause]:
    """The items of a set or of a keyed list that occur twice."""
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


@cache
def _pattern(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text.replace("\\z", "\\Z").replace("[[:alnum:]]", "[A-Za-z0-9]"))
    except re.error:  # a Go pattern that Python does not support; the real server accepts it, so it is not a defect
        return None


def _scalar(value: Any, node: Node, path: str) -> Iterator[Cause]:
    if "enum" in node and value not in node["enum"]:
        yield unsupported(path, value, *node["enum"])
    if isinstance(value, str):
        yield from _text(value, node, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _number(value, node, path)


def _text(value: str, node: Node, path: str) -> Iterator[Cause]:
    if "maxLength" in node and len(value) > node["maxLength"]:
        yield Cause(path, "FieldValueTooLong", f"Too long: may not be more than {node['maxLength']} bytes")
    if len(value) < node.get("minLength", 0):
        yield bad_value(path, value, f"{path} in body should be at least {node['minLength']} chars long")
    pattern = _pattern(node["pattern"]) if "pattern" in node else None
    if pattern and not pattern.search(value):
        yield bad_value(path, value, f"{path} in body should match '{node['pattern']}'")
    if node.get("format") == "date-time" and not is_time(value):
        yield bad_value(path, value, f'{path} in body must be of type date-time: "{value}"')


def is_time(value: str) -> bool:
    """Whether a text is an RFC 3339 time."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", value):
        return False
    try:
        datetime.fromisoformat(value[:19])
    except ValueError:
        return False
    return True


def _number(value: float, node: Node, path: str) -> Iterator[Cause]:
    low, high = node.get("minimum"), node.get("maximum")
    if low is not None and (value < low or (node.get("exclusiveMinimum") and value == low)):
        than = "greater than" if node.get("exclusiveMinimum") else "greater than or equal to"
        yield bad_value(path, value, f"{path} in body should be {than} {low}")
    if high is not None and (value > high or (node.get("exclusiveMaximum") and value == high)):
        than = "less than" if node.get("exclusiveMaximum") else "less than or equal to"
        yield bad_value(path, value, f"{path} in body should be {than} {high}")


def _combined(value: Any, node: Node, path: str) -> Iterator[Cause]:
    for part in node.get("allOf", ()):
        yield from validate(value, part, path)
    if "anyOf" in node and not _fitting(value, node["anyOf"], path):
        yield bad_value("<nil>", "", f'"{path}" must validate at least one schema (anyOf)')
    if "oneOf" in node and (count := _fitting(value, node["oneOf"], path)) != 1:
        found = f"Found {count} valid alternatives" if count else "Found none valid"
        yield bad_value("<nil>", "", f'"{path}" must validate one and only one schema (oneOf). {found}')
    if "not" in node and _fitting(value, [node["not"]], path):
        yield bad_value("<nil>", "", f'"{path}" must not validate the schema (not)')


def _fitting(value: Any, parts: list[Node], path: str) -> int:
    return sum(not any(validate(value, resolve(part), path)) for part in parts)


def misfit(value: Any, node: Node, path: str = "") -> str:
    """The message about the first value of a built-in kind that Go could not decode; empty when all fit."""
    if value is None:
        return ""
    wanted = node.get("type", "")
    if node.get("oneOf"):
        return "" if isinstance(value, (int, float, str)) else f"cannot unmarshal {_type_name(value)} into {path}"
    if wanted and not _has_type(value, wanted):
        kind = {"integer": "number"}.get(found := _type_name(value), found)
        return f"json: cannot unmarshal {kind} into Go struct field {path} of type {node.get('format', wanted)}"
    if isinstance(value, dict):
        below = ((name, item, child(node, name)) for name, item in value.items())
        return next(filter(None, (misfit(i, n, f"{path}.{k}" if path else k) for k, i, n in below if n)), "")
    if isinstance(value, list):
        inner = items(node)
        return next(filter(None, (misfit(item, inner, path) for item in value)), "")
    return ""


def missing(value: Any, node: Node, path: str = "") -> Iterator[Cause]:
    """The required fields of a built-in kind that are absent or empty, except in `status`."""
    if isinstance(value, dict):
        prefix = f"{path}." if path else ""
        for name in node.get("required", ()):
            if value.get(name) in (None, "", []) and prefix + name not in ("metadata", "status"):
                yield required(prefix + name)
        for name, item in value.items():
            if isinstance(item, (dict, list)) and prefix + name != "status" and (inner := child(node, name)):
                at = f"{path}[{name}]" if "additionalProperties" in node else prefix + name
                yield from missing(item, inner, at)
    elif isinstance(value, list):
        inner = items(node)
        yield from duplicates(value, node, path)
        for index, item in enumerate(value):
            yield from missing(item, inner, f"{path}[{index}]")
