"""JSON patch and strategic merge patch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import orjson

from eventing.local.apiserver.bodies import MAX_BYTES
from eventing.local.apiserver.failures import Failure, bad_request, unexplained
from eventing.local.apiserver.resources import Node, resolve
from eventing.local.apiserver.schema import child, items


def json_patch(target: Any, operations: Any) -> Any:
    """The target after a JSON patch (RFC 6902)."""
    if not isinstance(operations, list):
        raise bad_request("error decoding patch: wanted a list of operations")
    for operation in operations:
        if not _is_operation(operation):
            raise bad_request(f"error decoding patch: {operation} is not an operation")
        try:
            target = _OPERATIONS[operation["op"]](target, operation)
            is_too_large = operation["op"] == "copy" and len(orjson.dumps(target)) > MAX_BYTES
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise _rejected() from error
        if is_too_large:  # each copy may double the object
            raise _rejected()
    return target


def _is_operation(value: Any) -> bool:
    names = ("op", "path", "from")
    return isinstance(value, dict) and all(isinstance(value.get(name, ""), str) for name in names)


def _rejected() -> Failure:
    return Failure(422, "Invalid", "the server rejected our request due to an error in our request")


def _parts(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise ValueError(pointer)
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _look(target: Any, parts: list[str]) -> Any:
    for part in parts:
        target = target[int(part)] if isinstance(target, list) else target[part]
    return target


def _add(target: Any, operation: Node) -> Any:
    return _put(target, _parts(operation["path"]), copy.deepcopy(operation["value"]))


def _put(target: Any, parts: list[str], value: Any) -> Any:
    if not parts:
        return value
    *above, last = parts
    holder = _look(target, above)
    if isinstance(holder, list):
        index = len(holder) if last == "-" else int(last)
        if not 0 <= index <= len(holder):
            raise IndexError(last)
        holder.insert(index, value)
    elif isinstance(holder, dict):
        holder[last] = value
    else:
        raise TypeError(last)
    return target


def _remove(target: Any, operation: Node) -> Any:
    *above, last = _parts(operation["path"])
    holder = _look(target, above)
    del holder[int(last) if isinstance(holder, list) else last]
    return target


def _replace(target: Any, operation: Node) -> Any:
    parts = _parts(operation["path"])
    if not parts:
        return operation["value"]
    *above, last = parts
    holder = _look(target, above)
    place: Any = int(last) if isinstance(holder, list) else last
    holder[place] = copy.deepcopy(operation["value"])
    return target


def _test(target: Any, operation: Node) -> Any:
    if _look(target, _parts(operation["path"])) != operation.get("value"):
        raise _rejected()
    return target


def _copy(target: Any, operation: Node) -> Any:
    *above, last = _parts(operation["from"])
    holder = _look(target, above)
    value = holder.get(last) if isinstance(holder, dict) else _look(holder, [last])
    value = copy.deepcopy(value)  # an absent field of a map counts as null, as in the real server
    return _put(target, _parts(operation["path"]), value)


def _move(target: Any, operation: Node) -> Any:
    value = _look(target, _parts(operation["from"]))
    target = _remove(target, {"path": operation["from"]})
    return _put(target, _parts(operation["path"]), value)


_OPERATIONS: dict[str, Callable[[Any, Node], Any]] = {
    "add": _add, "remove": _remove, "replace": _replace, "test": _test, "copy": _copy, "move": _move,
}  # fmt: skip


def strategic(target: Any, patch: Any, node: Node) -> Any:
    """The target after a strategic merge patch: lists with a merge key are merged by item; directives are obeyed."""
    if not isinstance(patch, dict):
        return patch
    if patch.get("$patch", "merge") not in ("delete", "replace", "merge"):
        raise unexplained(f"unknown patch type: {patch['$patch']} in map: {patch}")
    if patch.get("$patch") == "delete":
        return None
    merged = dict(target) if isinstance(target, dict) and patch.get("$patch") != "replace" else {}
    if patch.get("$retainKeys") is not None:
        kept = _retained(patch)
        merged = {name: value for name, value in merged.items() if name in kept}
    for name, value in patch.items():
        if name == "$patch" or name == "$retainKeys" or name.startswith("$setElementOrder/"):
            continue
        if name.startswith("$deleteFromPrimitiveList/"):
            field = name.partition("/")[2]
            gone = value if isinstance(value, list) else []
            merged[field] = [one for one in merged.get(field) or [] if one not in gone]
            continue
        _merge_field(merged, name, node, patch)
    for name, order in patch.items():
        field = name.partition("/")[2]
        if name.startswith("$setElementOrder/") and field not in patch and isinstance(merged.get(field), list):
            merged[field] = _ordered(merged[field], _list(order), _key(node, field))
    return merged


def _retained(patch: Node) -> list[Any]:
    """The fields of a map that stay; they have to contain those that the patch sets."""
    kept = patch["$retainKeys"]
    if not isinstance(kept, list) or any(name not in kept for name in patch if not name.startswith("$")):
        raise bad_request("invalid patch format of retainKeys")
    return kept


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise unexplained(f"expected a []interface {{}}, but received {value!r}")
    return value


def _merge_field(merged: Node, name: str, node: Node, patch: Node) -> None:
    value, order = patch[name], patch.get(f"$setElementOrder/{name}")
    if value is None:
        merged.pop(name, None)
        return
    inner = child(node, name) or {}
    strategy = str((node.get("properties") or {}).get(name, {}).get("x-kubernetes-patch-strategy", ""))
    if isinstance(value, list):
        if "merge" not in strategy.split(","):
            merged[name] = [one for one in value if not _is_directive(one)]
            return
        merged[name] = _merge_list(merged.get(name) or [], value, inner, _key(node, name))
        if order is not None:
            merged[name] = _ordered(merged[name], _list(order), _key(node, name))
        return
    result = strategic(merged.get(name), value, inner)
    if result is None:
        merged.pop(name, None)
    else:
        merged[name] = result


def _key(node: Node, name: str) -> str:
    return str((node.get("properties") or {}).get(name, {}).get("x-kubernetes-patch-merge-key", ""))


def _is_directive(item: Any) -> bool:
    return isinstance(item, dict) and "$patch" in item


def _merge_list(old: list[Any], patch: list[Any], node: Node, key: str) -> list[Any]:
    if any(_is_directive(item) and item["$patch"] == "replace" for item in patch):
        return [item for item in patch if not _is_directive(item)]
    if not key:
        return [*old, *(item for item in patch if item not in old)]
    merged = list(old)
    inner = resolve(items(node))
    if not all(isinstance(item, dict) for item in patch):
        raise unexplained(f"list element types are not identical: {patch}")
    for item in patch:
        if key not in item:
            raise bad_request(f"map: {item} does not contain declared merge key: {key}")
        index = next((i for i, one in enumerate(merged) if one.get(key) == item[key]), None)
        if item.get("$patch") == "delete":
            merged = [one for one in merged if one.get(key) != item[key]]
        elif index is None:
            merged.append(strategic({}, item, inner))
        else:
            merged[index] = strategic(merged[index], item, inner)
    return merged


def _ordered(found: list[Any], order: list[Any], key: str) -> list[Any]:
    """The items with the named ones in the wanted order; each other item stays after its former neighbour."""

    def identity(one: Any) -> Any:
        return one.get(key) if key and isinstance(one, dict) else one

    desired = [identity(one) for one in order]
    named = sorted((one for one in found if identity(one) in desired), key=lambda one: desired.index(identity(one)))
    following = iter(named)
    return [next(following) if identity(one) in desired else one for one in found]
