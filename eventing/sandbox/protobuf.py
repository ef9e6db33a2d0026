"""Decodes protobuf bodies: kubectl's `create …` sends built-in kinds in this form, without a fallback to JSON."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from eventing.sandbox.failures import bad_request
from eventing.sandbox.resources import Node, Resource, field_numbers, resolve
from shared.adapters.registry.wire import BadMessage, parts
from shared.api.manifest import Manifest, timestamp

MAGIC = b"k8s\x00"
MEDIA = "application/vnd.kubernetes.protobuf"


def decode(data: bytes, resource: Resource) -> Manifest:
    """The object inside an envelope."""
    if not data.startswith(MAGIC):
        raise bad_request("the body is not a Kubernetes protobuf envelope")
    try:
        envelope = dict(_fields(data.removeprefix(MAGIC)))
        type_meta = {number: bytes(value).decode() for number, value in _fields(envelope.get(1, b""))}
        found: Manifest = _message(envelope.get(2, b""), resource.schema)
    except BadMessage as error:
        raise bad_request(f"the protobuf body is malformed: {error}") from error
    return {"apiVersion": type_meta.get(1), "kind": type_meta.get(2), **found}


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    return ((number, value) for number, _, value in parts(data))


def _message(data: bytes, reference: Node) -> Any:
    name = reference.get("$ref", "")
    if special := _SPECIAL.get(name.rpartition(".")[2]):
        return special(data)
    found: Manifest = {}
    properties = resolve(reference).get("properties", {})
    _collect(data, field_numbers().get(name, {}), properties, found)
    return found


def _collect(data: bytes, numbers: Node, properties: Node, found: Manifest) -> None:
    for number, value in _fields(data):
        known = numbers.get(str(number))
        if isinstance(known, dict):  # a message whose fields are inlined in JSON
            _collect(value, known, properties, found)
        elif known:
            _set(found, known, value, properties[known])


def _set(found: Manifest, name: str, value: Any, node: Node) -> None:
    if node.get("type") == "array":
        found.setdefault(name, []).append(_scalar(value, node["items"]))
    elif "additionalProperties" in node:
        entry = dict(_fields(value))
        inner = node["additionalProperties"]
        found.setdefault(name, {})[bytes(entry.get(1, b"")).decode()] = _scalar(entry.get(2, b""), inner)
    else:
        found[name] = _scalar(value, node)


def _scalar(value: Any, node: Node) -> Any:
    if "$ref" in node:
        return _message(value, node)
    match node.get("type"):
        case "boolean":
            return bool(value)
        case "string" if node.get("format") == "byte":
            return base64.b64encode(value).decode()
        case "string":
            return bytes(value).decode()
        case "array":
            return [_scalar(one, node["items"]) for _, one in _fields(value)]
    return value


def _time(data: bytes) -> str | None:
    fields = dict(_fields(data))
    return timestamp(datetime.fromtimestamp(fields.get(1, 0), UTC)) if fields.get(1) else None


def _int_or_string(data: bytes) -> int | str:
    fields = dict(_fields(data))
    return bytes(fields.get(3, b"")).decode() if fields.get(1) else int(fields.get(2, 0))


def _quantity(data: bytes) -> str:
    return bytes(dict(_fields(data)).get(1, b"")).decode()


_SPECIAL: dict[str, Any] = {"Time": _time, "MicroTime": _time, "IntOrString": _int_or_string, "Quantity": _quantity}
