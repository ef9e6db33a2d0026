"""Sets of fields: the fields of an object, and the difference of two objects, down to the items of keyed lists.

A field is the tuple of its path elements, each written as in `managedFields`: `f:name`, `k:{"name":"x"}`, `v:"x"`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import orjson

from eventing.local.apiserver.resources import Node, resolve
from eventing.local.apiserver.schema import ANYTHING, child, items

Path: TypeAlias = tuple[str, ...]
Fields: TypeAlias = set[Path]
_ABSENT: Any = object()


def element_of(item: Any, node: Node) -> str:
    """The path element of an item of a keyed list or of a set."""
    if node.get("x-kubernetes-list-type") == "set":
        return "v:" + orjson.dumps(item, option=orjson.OPT_SORT_KEYS).decode()
    inner = items(node)
    keys = sorted(node.get("x-kubernetes-list-map-keys", ()))
    values = {key: item.get(key, resolve(inner).get("properties", {}).get(key, {}).get("default")) for key in keys}
    return "k:" + orjson.dumps({key: value for key, value in values.items() if value is not None}).decode()


def is_granular(value: Any, node: Node) -> bool:
    """Whether a value has its own fields, instead of being one field."""
    if isinstance(value, dict):
        return node.get("x-kubernetes-map-type") != "atomic"
    return isinstance(value, list) and node.get("x-kubernetes-list-type") in ("map", "set")


def is_full(value: Any, node: Node) -> bool:
    """Whether a value has fields of its own."""
    return bool(value) and is_granular(value, node)


def parts(value: Any, node: Node) -> dict[str, tuple[Any, Node]]:
    """The direct fields of a granular value by path element."""
    if isinstance(value, dict):
        return {f"f:{name}": (item, child(node, name) or ANYTHING) for name, item in value.items()}
    inner = items(node)
    return {element_of(item, node): (item, inner) for item in value}


Marks: TypeAlias = Literal["items", "maps", "all"]
"""Which values that contain fields are fields, too: items of lists; also maps and lists; also objects of a schema."""


def set_paths(value: Any, node: Node, path: Path = (), *, marks: Marks = "items") -> Iterator[Path]:
    """The fields that a value sets."""
    if not is_full(value, node):
        yield path
        return
    is_item = bool(path) and path[-1].startswith("k:")
    if is_item and marks == "maps":
        marks = "all"  # below a new item everything is new
    if path and (is_item or marks == "all" or (marks == "maps" and "properties" not in node)):
        yield path
    declared = node.get("properties") or ()
    required = {f"f:{name}" for name in node.get("required", ())} if marks == "maps" else ()
    for element, (item, inner) in parts(value, node).items():
        below = set_paths(item, inner, (*path, element), marks=marks)
        if marks == "items" and element[2:] not in declared and isinstance(value, dict) and is_full(item, inner):
            yield (*path, element)
        if element in required and isinstance(item, list) and is_full(item, inner):
            below = (one for one in below if one != (*path, element))  # in Go the empty list was there before
        yield from below


@dataclass(slots=True)
class Difference:
    """The difference between two states of an object."""

    marks: Marks = "maps"
    written: Fields = field(default_factory=set)
    """Fields that are new or have another value."""
    removed: Fields = field(default_factory=set)

    def find(self, old: Any, new: Any, node: Node, path: Path = ()) -> None:
        """Add the differences between two values."""
        if old == new:
            return
        if old is _ABSENT:
            self.written.update(set_paths(new, node, path, marks=self.marks))
        elif new is _ABSENT:
            self.removed.update(with_parents(set_paths(old, node, path), below=len(path)))
        elif type(old) is type(new) and is_granular(old, node):
            before, after = parts(old, node), parts(new, node)
            for element in {**before, **after}:
                value, inner = after.get(element) or before[element]
                earlier = before[element][0] if element in before else _ABSENT
                self.find(earlier, value if element in after else _ABSENT, inner, (*path, element))
        else:
            self.written.add(path)


def with_parents(fields: Iterable[Path], below: int = 1) -> Iterator[Path]:
    """The fields and all their parents, from a depth on."""
    for path in fields:
        for length in range(max(below, 1), len(path) + 1):
            yield path[:length]


def merge(old: Any, new: Any, node: Node) -> Any:
    """The value after an apply: the applied fields are set, the others stay."""
    if new is None and is_granular(old, node):
        return old
    if old is None or type(old) is not type(new) or not is_granular(new, node):
        return new
    if isinstance(new, dict):
        merged = dict(old)
        for name, value in new.items():
            merged[name] = merge(old.get(name), value, child(node, name) or ANYTHING)
        return merged
    before = parts(old, node)
    after = parts(new, node)
    result = {key: merge(item, after[key][0], inner) if key in after else item for key, (item, inner) in before.items()}
    return [*result.values(), *(item for key, (item, _) in after.items() if key not in before)]


def remove(value: Any, gone: Fields, node: Node, path: Path = ()) -> Any:
    """A value without some of its fields."""
    if not is_full(value, node):
        return value
    left = {
        element: remove(item, gone, inner, (*path, element))
        for element, (item, inner) in parts(value, node).items()
        if (*path, element) not in gone
    }
    return {name[2:]: item for name, item in left.items()} if isinstance(value, dict) else list(left.values())


def encode(fields: Fields) -> Node:
    """The form of `fieldsV1`."""
    tree: Node = {}
    for path in sorted(fields):
        here = tree
        for element in path:
            here = here.setdefault(element, {})
        here["."] = {}
    return _trimmed(tree)


def _trimmed(tree: Node) -> Node:
    if tree.keys() == {"."}:
        return {}
    return {name: _trimmed(below) if name != "." else below for name, below in tree.items()}


def decode(tree: Node, path: Path = ()) -> Iterator[Path]:
    """The fields of a `fieldsV1`; what has another form names none, because clients may write anything there."""
    if not isinstance(tree, dict):
        return
    if not tree and path:
        yield path
    for name, below in tree.items():
        if name == ".":
            yield path
        else:
            yield from decode(below, (*path, name))


def shown(path: Path) -> str:
    """A field in the form for messages: `.spec.containers[name="x"].image`."""
    text = ""
    for element in path:
        kind, _, rest = element.partition(":")
        if kind == "f":
            text += f".{rest}"
        elif kind == "k":
            pairs = (f"{key}={orjson.dumps(value).decode()}" for key, value in orjson.loads(rest).items())
            text += f"[{','.join(pairs)}]"
        else:
            text += f"[={rest}]"
    return text
