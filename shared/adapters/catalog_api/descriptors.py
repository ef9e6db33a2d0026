"""Our messages and services as reflection tells of them: file descriptors, made from the same tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from shared.adapters.catalog_client.messages import EXPERIMENTAL, HEALTH, REGISTRY, SERVICES, Method
from shared.adapters.catalog_client.wire import Field, Message, encode

_STRUCT_FILE: Final = "google/protobuf/struct.proto"
_OPTIONAL, _REPEATED = 1, 3
_TYPES: Final = {"double": 1, "int": 5, "bool": 8, "string": 9, "bytes": 12}
_MESSAGE: Final = 11
_ENUM: Final = 14

_ENUM_VALUE: Final = Message("", (Field(1, "name"), Field(2, "number", "int", is_always_written=True)))
_ENUM_TYPE: Final = Message("", (Field(1, "name"), Field(2, "value", _ENUM_VALUE, is_repeated=True)))
_FIELD: Final = Message(
    "",
    (
        Field(1, "name"),
        Field(3, "number", "int"),
        Field(4, "label", "int"),
        Field(5, "type", "int"),
        Field(6, "type_name"),
        Field(9, "oneof_index", "int", is_always_written=True),
        Field(10, "json_name"),
    ),
)
_ONEOF: Final = Message("", (Field(1, "name"),))
_OPTIONS: Final = Message("", (Field(7, "map_entry", "bool"),))
_INNER: Final = Message(
    "", (Field(1, "name"), Field(2, "field", _FIELD, is_repeated=True), Field(7, "options", _OPTIONS))
)
_TYPE: Final = Message(
    "",
    (
        Field(1, "name"),
        Field(2, "field", _FIELD, is_repeated=True),
        Field(3, "nested_type", _INNER, is_repeated=True),
        Field(4, "enum_type", _ENUM_TYPE, is_repeated=True),
        Field(8, "oneof_decl", _ONEOF, is_repeated=True),
    ),
)
_METHOD: Final = Message(
    "", (Field(1, "name"), Field(2, "input_type"), Field(3, "output_type"), Field(6, "server_streaming", "bool"))
)
_SERVICE: Final = Message("", (Field(1, "name"), Field(2, "method", _METHOD, is_repeated=True)))
_FILE: Final = Message(
    "",
    (
        Field(1, "name"),
        Field(2, "package"),
        Field(3, "dependency", is_repeated=True),
        Field(4, "message_type", _TYPE, is_repeated=True),
        Field(5, "enum_type", _ENUM_TYPE, is_repeated=True),
        Field(6, "service", _SERVICE, is_repeated=True),
        Field(12, "syntax"),
    ),
)


def _described(field: Field) -> dict[str, Any]:
    label = _REPEATED if field.is_repeated else _OPTIONAL
    described = {"name": field.name, "number": field.number, "label": label, "json_name": field.name}
    if isinstance(field.type, Message):
        return described | {"type": _MESSAGE, "type_name": f".{field.type.name}"}
    return described | {"type": _TYPES[field.type]}


def _file(name: str, package: str, services: Mapping[str, tuple[Method, ...]], needs: Iterable[str] = ()) -> bytes:
    methods = [method for listed in services.values() for method in listed]
    messages: dict[str, Message] = {}
    for method in methods:
        _collect(method.request, messages)
        _collect(method.response, messages)
    own = [message for message in messages.values() if message.name.startswith(f"{package}.")]
    described = [_message(message, package) for message in sorted(own, key=lambda one: one.name)]
    told = [{"name": full.removeprefix(f"{package}."), "method": _methods(listed)} for full, listed in services.items()]
    return encode(
        _FILE,
        {
            "name": name,
            "package": package,
            "dependency": list(needs),
            "message_type": described,
            "service": told,
            "syntax": "proto3",
        },
    )


def _collect(message: Message, found: dict[str, Message]) -> None:
    found[message.name] = message
    for field in message.fields:
        if isinstance(field.type, Message):
            _collect(field.type, found)


def _message(message: Message, package: str) -> dict[str, Any]:
    described: dict[str, Any] = {"name": message.name.removeprefix(f"{package}.")}
    described["field"] = list(map(_described, message.fields))
    if described["name"] == "HealthCheckResponse":
        words = ("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN")
        described["enum_type"] = [
            {"name": "ServingStatus", "value": [{"name": word, "number": at} for at, word in enumerate(words)]}
        ]
        described["field"][0] |= {"type": _ENUM, "type_name": f".{message.name}.ServingStatus"}
    return described


def _methods(methods: Iterable[Method]) -> list[dict[str, Any]]:
    return [
        {
            "name": method.name,
            "input_type": f".{method.request.name}",
            "output_type": f".{method.response.name}",
            "server_streaming": method.is_stream,
        }
        for method in methods
    ]


def _member(number: int, name: str, kind: int, of: str = "", **more: int) -> dict[str, Any]:
    described = {"name": name, "number": number, "label": _OPTIONAL, "type": kind, "type_name": of}
    return described | {"json_name": re.sub("_(.)", lambda found: found[1].upper(), name)} | more


_KINDS: Final = (
    ("null_value", _ENUM, ".google.protobuf.NullValue"),
    ("number_value", _TYPES["double"], ""),
    ("string_value", _TYPES["string"], ""),
    ("bool_value", _TYPES["bool"], ""),
    ("struct_value", _MESSAGE, ".google.protobuf.Struct"),
    ("list_value", _MESSAGE, ".google.protobuf.ListValue"),
)
_PAIR: Final = {
    "name": "FieldsEntry",
    "field": [_member(1, "key", _TYPES["string"]), _member(2, "value", _MESSAGE, ".google.protobuf.Value")],
    "options": {"map_entry": True},
}
_STRUCT_TYPES: Final = (
    {
        "name": "Struct",
        "field": [_member(1, "fields", _MESSAGE, ".google.protobuf.Struct.FieldsEntry", label=_REPEATED)],
        "nested_type": [_PAIR],
    },
    {
        "name": "Value",
        "field": [_member(at, *kind, oneof_index=0) for at, kind in enumerate(_KINDS, start=1)],
        "oneof_decl": [{"name": "kind"}],
    },
    {"name": "ListValue", "field": [_member(1, "values", _MESSAGE, ".google.protobuf.Value", label=_REPEATED)]},
)
_STRUCT: Final = encode(
    _FILE,
    {
        "name": _STRUCT_FILE,
        "package": "google.protobuf",
        "message_type": _STRUCT_TYPES,
        "enum_type": [{"name": "NullValue", "value": [{"name": "NULL_VALUE", "number": 0}]}],
        "syntax": "proto3",
    },
)
"""The well-known type, which some clients do not bring with them."""

FILES: Final[Mapping[str, bytes]] = {
    "registry.proto": _file(
        "registry.proto", "api", {name: SERVICES[name] for name in (REGISTRY, EXPERIMENTAL)}, [_STRUCT_FILE]
    ),
    "grpc/health/v1/health.proto": _file("grpc/health/v1/health.proto", "grpc.health.v1", {HEALTH: SERVICES[HEALTH]}),
    _STRUCT_FILE: _STRUCT,
}
"""Descriptors by file name."""


def file_of(symbol: str) -> bytes | None:
    """The file that declares a service, a method or a message."""
    for package, name in (("api.", "registry.proto"), ("grpc.health.v1.", "grpc/health/v1/health.proto"),
                          ("google.protobuf.", _STRUCT_FILE)):  # fmt: skip
        if symbol.startswith(package):
            return FILES[name]
    return None
