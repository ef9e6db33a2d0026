"""Checks the body of a server-side apply against the schema: it may contain only known fields of the right types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from eventing.local.apiserver.fieldsets import element_of, shown
from eventing.local.apiserver.resources import Node
from eventing.local.apiserver.schema import child, items


def misapplied(value: Any, node: Node, path: str = "") -> Iterator[str]:
    """Why a body cannot be applied, one sentence per field."""
    desired = node.get("type")
    if value is None:
        return
    if desired in ("object", None) and isinstance(value, dict):
        yield from _fields(value, node, path)
    elif desired in ("array", None) and isinstance(value, list):
        yield from _items(value, node, path)
    elif desired in _EXPECTED and not isinstance(value, _EXPECTED[desired][0]):
        yield f"{path}: {_EXPECTED[desired][1]}, got {_seen(value, desired)}"
    elif desired in ("integer", "number") and isinstance(value, bool):
        yield f"{path}: {_EXPECTED[desired][1]}, got bool"


_EXPECTED: dict[str, tuple[tuple[type, ...], str]] = {
    "object": ((dict,), "expected map"), "array": ((list,), "expected list"), "string": ((str,), "expected string"),
    "boolean": ((bool,), "expected boolean"), "integer": ((int, float), "expected numeric (int or float)"),
    "number": ((int, float), "expected numeric (int or float)"),
}  # fmt: skip


def _fields(value: Node, node: Node, path: str) -> Iterator[str]:
    unknown = next((name for name in sorted(value) if child(node, name) is None), None)
    if unknown is not None:
        yield f"{path}.{unknown}: field not declared in schema"
        return
    for name in sorted(value):
        yield from misapplied(value[name], child(node, name) or {}, f"{path}.{name}")


def _items(value: list[Any], node: Node, path: str) -> Iterator[str]:
    kind = node.get("x-kubernetes-list-type")
    if kind == "map":
        for index, item in enumerate(value):
            if not isinstance(item, dict):
                what = "a null element" if item is None else "non-map elements"
                yield f"{path}: element {index}: associative list with keys may not have {what}"
                return
    if kind in ("map", "set"):
        counted = Counter(element_of(item, node) for item in value)
        yield from (f"{path}: duplicate entries for key {shown((one,))}" for one, count in counted.items() if count > 1)
    for index, item in enumerate(value):
        place = shown((element_of(item, node),)) if kind in ("map", "set") else f"[{index}]"
        yield from misapplied(item, items(node), path + place)


def _seen(value: Any, desired: str) -> str:
    """A value of a wrong type in the form of Go."""
    if desired in ("integer", "number"):
        return {str: "string", bool: "bool", list: "[]interface {}"}.get(type(value), "map[string]interface {}")
    return f"&value.valueUnstructured{{Value:{_go(value)}}}" if desired == "string" else f"&{{{_go(value)}}}"


def _go(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case list():
            return f"[{' '.join(map(_go, value))}]"
        case dict():
            return f"map[{' '.join(f'{name}:{_go(value[name])}' for name in sorted(value))}]"
        case None:
            return "<nil>"
    return str(value)
