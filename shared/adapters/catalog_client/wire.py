"""Protocol buffers for a handful of messages: tables instead of generated code, dictionaries instead of classes.

A message type is a tuple of fields. A field that is absent, or has the default of its type, is not written; unknown
fields are skipped when reading, as proto3 requires.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

Scalar: TypeAlias = Literal["string", "bytes", "int", "bool", "double"]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_BYTES: Final = {_FIXED64: 8, _FIXED32: 4}
_LOW: Final = 0x7F
_MORE: Final = 0x80
_VARINT_BYTES: Final = 10
_WORD: Final = 1 << 64


class BadMessage(ValueError):
    """Bytes that are no message of the expected type."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field: `type` is a scalar, or the fields of another message."""

    number: int
    name: str
    type: Scalar | Message = "string"
    is_repeated: bool = False
    is_always_written: bool = False
    """Part of a choice (`oneof`): it is written even when it is empty."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message type."""

    name: str
    """With its package, e.g. `api.Package`."""
    fields: tuple[Field, ...] = ()


def encode(message: Message, value: Mapping[str, Any]) -> bytes:
    """The bytes of a message."""
    out = bytearray()
    for field in message.fields:
        if field.name in value:
            given = value[field.name]
            for one in given if field.is_repeated else (given,):
                if one or field.is_repeated or field.is_always_written or isinstance(field.type, Message):
                    _write(out, field, one)
    return bytes(out)


def _write(out: bytearray, field: Field, value: Any) -> None:  # why: any value of the field's type
    match field.type:
        case "int" | "bool":
            _write_varint(out, field.number << 3 | _VARINT)
            _write_varint(out, int(value) % _WORD)
        case "double":
            _write_varint(out, field.number << 3 | _FIXED64)
            out += struct.pack("<d", value)
        case _:
            content = _content(field, value)
            _write_varint(out, field.number << 3 | _BYTES)
            _write_varint(out, len(content))
            out += content


def _content(field: Field, value: Any) -> bytes:  # why: as above
    if isinstance(field.type, Message):
        return encode(field.type, value)
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def _write_varint(out: bytearray, value: int) -> None:
    while value > _LOW:
        out.append(value & _LOW | _MORE)
        value >>= 7
    out.append(value)


def decode(message: Message, content: bytes) -> dict[str, Any]:
    """The fields that a message states. BadMessage when the bytes are none."""
    known = {field.number: field for field in message.fields}
    found: dict[str, Any] = {field.name: [] for field in message.fields if field.is_repeated}
    for number, kind, raw in parts(content):
        field = known.get(number)
        if field is not None and kind == _kind(field):
            value = _value(field, raw)
            if field.is_repeated:
                found[field.name].append(value)
            else:
                found[field.name] = value
    return found


def _kind(field: Field) -> int:
    return {"int": _VARINT, "bool": _VARINT, "double": _FIXED64}.get(str(field.type), _BYTES)


def _value(field: Field, raw: int | bytes) -> Any:  # why: any value of the field's type
    match field.type:
        case "int":
            return raw
        case "bool":
            return bool(raw)
        case "double" if isinstance(raw, bytes):
            return struct.unpack("<d", raw)[0]
        case Message() if isinstance(raw, bytes):
            return decode(field.type, raw)
        case "string" if isinstance(raw, bytes):
            return raw.decode("utf-8", "replace")
    return raw


def parts(content: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Number, kind and value of each field as it stands in a message. BadMessage when the bytes are none."""
    position = 0
    while position < len(content):
        tag, position = _read_varint(content, position)
        kind = tag & 7
        if kind == _VARINT:
            value, position = _read_varint(content, position)
            yield tag >> 3, kind, value
            continue
        if kind == _BYTES:
            length, position = _read_varint(content, position)
        elif (length := _FIXED_BYTES.get(kind, -1)) < 0:
            raise BadMessage(f"a field of the unknown kind {kind} at byte {position}")
        if position + length > len(content):
            raise BadMessage(f"it ends in the middle of a field, at byte {position}")
        yield tag >> 3, kind, content[position : position + length]
        position += length


def _read_varint(content: bytes, position: int) -> tuple[int, int]:
    value = 0
    for index in range(_VARINT_BYTES):
        if position + index >= len(content):
            break
        byte = content[position + index]
        value |= (byte & _LOW) << (7 * index)
        if byte < _MORE:
            return value % _WORD, position + index + 1
    raise BadMessage(f"a number without end at byte {position}")
