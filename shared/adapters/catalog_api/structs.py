"""Any JSON object as a `google.protobuf.Struct`, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from shared.adapters.catalog_client.wire import Field, Message, decode, encode

_VALUE: Final = Message(
    "google.protobuf.Value",
    (
        Field(1, "null", "int", is_always_written=True),
        Field(2, "number", "double", is_always_written=True),
        Field(3, "text", is_always_written=True),
        Field(4, "boolean", "bool", is_always_written=True),
        Field(5, "struct", "bytes", is_always_written=True),
        Field(6, "list", "bytes", is_always_written=True),
    ),
)
_PAIR: Final = Message("google.protobuf.Struct.FieldsEntry", (Field(1, "key"), Field(2, "value", _VALUE)))
_STRUCT: Final = Message("google.protobuf.Struct", (Field(1, "fields", _PAIR, is_repeated=True),))
_LIST: Final = Message("google.protobuf.ListValue", (Field(1, "values", _VALUE, is_repeated=True),))


def to_struct(value: Mapping[str, Any]) -> bytes:
    """The message that holds an object."""
    return encode(_STRUCT, {"fields": [{"key": key, "value": _told(one)} for key, one in value.items()]})


def _told(value: Any) -> dict[str, Any]:  # why: any JSON value
    match value:
        case None:
            return {"null": 0}
        case bool():
            return {"boolean": value}
        case int() | float():
            return {"number": float(value)}
        case str():
            return {"text": value}
        case list():
            return {"list": encode(_LIST, {"values": list(map(_told, value))})}
    return {"struct": to_struct(value)}


def from_struct(content: bytes) -> dict[str, Any]:
    """The object that a message holds."""
    return {pair.get("key", ""): _read(pair.get("value", {})) for pair in decode(_STRUCT, content)["fields"]}


def _read(value: Mapping[str, Any]) -> Any:  # why: any JSON value
    for kind, content in value.items():
        match kind:
            case "struct":
                return from_struct(content)
            case "list":
                return list(map(_read, decode(_LIST, content)["values"]))
            case "number":
                return int(content) if content.is_integer() else content
            case "text" | "boolean":
                return content
    return None
