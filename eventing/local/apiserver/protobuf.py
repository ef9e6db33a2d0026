"""Decodes protobuf bodies: kubectl's `create …` sends built-in kinds in this form, without a fallback to JSON."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from eventing.local.apiserver.failures import bad_request
from eventing.local.apiserver.resources import Node, field_numbers, resolve
from shared.api.manifest import Manifest, timestamp

MAGIC = b"k8s\x00"
MEDIA = "application/vnd.kubernetes.protobuf"


def decode(data: bytes, schema: Node) -> Manifest:
    """The object of a schema inside an envelope."""
    if not data.startswith(MAGIC):
        raise bad_request("the body is not a Kubernetes protobuf envelope")
    try:
        envelope = dict(_fields(data.removeprefix(MAGIC)))
        type_meta = {number: _text(value) for number, value in _fields(envelope.get(1, b""))}
        found: Manifest = _message(envelope.get(2, b""), schema)
    except (DecodeError, UnicodeDecodeError, OverflowError) as error:
        raise bad_request(f"the protobuf body is malformed: {error}") from error
    return {"apiVersion": type_meta.get(1), "kind": type_meta.get(2), **found}


def _fields(data: Any) -> Iterator[tuple[int, Any]]:
    """Number and value of each field as it stands: to the library all of them are unknown."""
    return ((field.field_number, field.data) for field in UnknownFieldSet(Empty.FromString(_bytes(data))))


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise DecodeError(f"wrong wireType: wanted bytes, got the number {value}")
    return value


def _text(value: Any) -> str:
    return _bytes(value).decode()


def _number(value: Any) -> int:
    """A varint as a signed number."""
    if not isinstance(value, int):
        raise DecodeError("wrong wireType: wanted a number, got bytes")
    return value - (1 << 64) if value >> 63 else value


def _message(data: Any, reference: Node) -> Any:
    name = reference.get("$ref", "")
    if special := _SPECIAL.get(name.rpartition(".")[2]):
        return special(data)
    found: Manifest = {}
    properties = resolve(reference).get("properties", {})
    _collect(data, field_numbers().get(name, {}), properties, found)
    return found


def _collect(data: Any, numbers: Node, properties: Node, found: Manifest) -> None:
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
        found.setdefault(name, {})[_text(entry.get(1, b""))] = _scalar(entry.get(2, b""), inner)
    else:
        found[name] = _scalar(value, node)


def _scalar(value: Any, node: Node) -> Any:
    if "$ref" in node:
        return _message(value, node)
    match node.get("type"):
        case "boolean":
            return bool(_number(value))
        case "string" if node.get("format") == "byte":
            return base64.b64encode(_bytes(value)).decode()
        case "string":
            return _text(value)
        case "array":
            return [_scalar(one, node["items"]) for _, one in _fields(value)]
    return _number(value)


def _time(data: Any) -> str | None:
    seconds = _number(dict(_fields(data)).get(1, 0))
    return timestamp(_EPOCH + timedelta(seconds=seconds)) if seconds else None


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _int_or_string(data: Any) -> int | str:
    fields = dict(_fields(data))
    return _text(fields.get(3, b"")) if fields.get(1) else _number(fields.get(2, 0))


def _quantity(data: Any) -> str:
    return _text(dict(_fields(data)).get(1, b""))


_SPECIAL: dict[str, Any] = {"Time": _time, "MicroTime": _time, "IntOrString": _int_or_string, "Quantity": _quantity}
