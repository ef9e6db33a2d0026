"""Applies structural schemas to objects: removes unknown fields and sets defaults.

Built-in kinds and kinds from CustomResourceDefinitions use the same code; `validation` finds the defects of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from eventing.local.apiserver.resources import OBJECT_META, Node, resolve
from shared.api.manifest import Manifest

_EMBEDDED: Node = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": OBJECT_META}
ANYTHING: Node = {"x-kubernetes-preserve-unknown-fields": True}
"""The schema of what no schema speaks of: nothing in it is unknown, absent or of a wrong type."""


def object_schema(structural: Node) -> Node:
    """The schema of a custom kind, with the fields that all objects have."""
    return {**structural, "properties": {**_EMBEDDED, **structural.get("properties", {}), "metadata": OBJECT_META}}


def child(node: Node, name: str) -> Node | None:
    """The schema of one field of an object; None when the schema has no such field."""
    properties = node.get("properties")
    if properties and (found := properties.get(name)) is not None:
        return resolve(found) if "$ref" in found else found
    if node.get("x-kubernetes-embedded-resource") and name in _EMBEDDED:
        return resolve(_EMBEDDED[name])
    extra = node.get("additionalProperties")
    if isinstance(extra, dict):
        return resolve(extra)
    if extra or node.get("x-kubernetes-preserve-unknown-fields"):
        return ANYTHING
    return None


def items(node: Node) -> Node:
    """The schema of the items of a list."""
    found = node.get("items")
    return resolve(found) if isinstance(found, dict) else ANYTHING


def prune(value: Any, node: Node, path: str = "") -> list[str]:
    """Remove unknown fields in place; returns their paths."""
    gone: list[str] = []
    _prune(value, node, path, gone)
    return gone


def _prune(value: Any, node: Node, path: str, gone: list[str]) -> None:
    if node is ANYTHING:
        return
    if isinstance(value, dict):
        for name in list(value):
            below = f"{path}.{name}" if path else name
            inner = child(node, name)
            if inner is None:
                del value[name]
                gone.append(below)
            elif isinstance(item := value[name], (dict, list)):
                _prune(item, inner, below, gone)
    elif isinstance(value, list):
        inner = items(node)
        for index, item in enumerate(value):
            if isinstance(item, (dict, list)):
                _prune(item, inner, f"{path}[{index}]", gone)


def fill(value: Any, node: Node, *, keeps_nulls: bool = False) -> None:
    """Set the defaults of a schema, in place; a null in a field that is not nullable counts as absent.

    `keeps_nulls` is for applied objects: there, only a field with a default loses its null.
    """
    if node is ANYTHING:
        return
    if isinstance(value, dict):
        for name, raw in (node.get("properties") or {}).items():
            if value.get(name) is None:
                _fill_absent(value, name, raw, keeps_nulls=keeps_nulls)
        for name, item in value.items():
            if isinstance(item, (dict, list)) and (found := child(node, name)):
                fill(item, found, keeps_nulls=keeps_nulls)
    elif isinstance(value, list):
        inner = items(node)
        for item in value:
            if isinstance(item, (dict, list)):
                fill(item, inner, keeps_nulls=keeps_nulls)


def _fill_absent(value: Manifest, name: str, raw: Node, *, keeps_nulls: bool) -> None:
    if name in value and resolve(raw).get("nullable"):
        return
    if "default" in raw:
        value[name] = orjson.loads(orjson.dumps(raw["default"]))
    elif name in value and not keeps_nulls:
        del value[name]


def settle(value: Any, node: Node) -> Any:
    """A value of a built-in kind as Go would write it: no nulls, no empty optional lists, maps and strings."""
    if node is ANYTHING:
        return value
    if isinstance(value, dict) and ("properties" in node or "additionalProperties" in node):
        return _settled_fields(value, node)
    if isinstance(value, list):
        inner = items(node)
        return [settle(_non_null(item, inner), inner) for item in value]
    if isinstance(value, (int, float)) and node.get("oneOf") and "format" not in node:
        return str(value)
    return value


def _settled_fields(value: Manifest, node: Node) -> Manifest:
    required, is_object = node.get("required", ()), "properties" in node
    kept = {}
    for name, item in value.items():
        inner = child(node, name) or {}
        settled = settle(item if is_object else _non_null(item, inner), inner)
        if not settled and _is_plain(name, node):
            continue
        if settled is None or (is_object and name not in required and _is_empty(settled, inner)):
            continue
        kept[name] = settled
    return kept


def _is_plain(name: str, node: Node) -> bool:
    """Whether a zero is the same as its absence; `timeoutSeconds` is a pointer but in a probe."""
    return name in _PLAIN and (name != "timeoutSeconds" or "periodSeconds" in node.get("properties", {}))


def _non_null(item: Any, node: Node) -> Any:
    """An item of a list or map; in place of a null the zero of its type, as Go reads it."""
    zero = _ZEROS.get(node.get("type", ""))
    return zero() if item is None and zero else item


_ZEROS: dict[str, Callable[[], Any]] = {"object": dict, "string": str, "integer": int, "boolean": bool}
_PLAIN = frozenset({
    "hostPort", "nodePort", "minReadySeconds", "initialDelaySeconds", "timeoutSeconds", "periodSeconds",
    "successThreshold", "failureThreshold", "observedGeneration", "hostNetwork", "hostPID", "hostIPC", "paused",
    "stdin", "stdinOnce", "tty", "readOnly",
})  # fmt: skip
"""Numbers and booleans that are not pointers in Go: their zero is the same as their absence."""


def _is_empty(value: Any, node: Node) -> bool:
    if node.get("x-kubernetes-preserve-unknown-fields"):
        return False  # any JSON, e.g. the default in a schema
    return value in ("", []) or (value == {} and "properties" not in node and "additionalProperties" in node)
