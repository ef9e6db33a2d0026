"""A checked expression of CEL as a tree, read from what the library serializes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

WORD: Final = 16
"""What any value takes at least, in bytes."""
_LOW, _MORE, _VARINT, _BYTES = 0x7F, 0x80, 0, 2
_FIXED: Final = {1: 8, 5: 4}


@dataclass(frozen=True, slots=True)
class Node:
    """One part of a checked expression; a loop has range, start, condition, step and result, in this order."""

    kind: str
    name: str = ""
    parts: tuple[Node, ...] = ()
    size: int = WORD
    variables: tuple[str, ...] = ()


def parsed(serialized: bytes) -> Node:
    """The expression in what the library serializes: a `cel.expr.CheckedExpr` in a `google.protobuf.Any`."""
    checked = _fields(_fields(serialized).message(2))
    return _node(checked.message(4))


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of a message of protocol buffers, by number."""

    found: Mapping[int, Sequence[Any]] = field(default_factory=dict)

    def message(self, number: int) -> bytes:
        values = self.found.get(number)
        return bytes(values[-1]) if values else b""

    def messages(self, number: int) -> Sequence[bytes]:
        return self.found.get(number, ())

    def text(self, number: int) -> str:
        return self.message(number).decode("utf-8", "replace")


def _node(content: bytes) -> Node:
    found = _fields(content)
    kind = next((number for number in _KINDS if number in found.found), 0)
    return _KINDS[kind](_fields(found.message(kind))) if kind else Node("const")


def _const(found: _Fields) -> Node:
    return Node("const", size=WORD + sum(len(found.message(number)) for number in (6, 7)))


def _select(found: _Fields) -> Node:
    return Node("select", "has" if 3 in found.found else "", (_node(found.message(1)),))


def _function(found: _Fields) -> Node:
    target = [found.message(1)] if 1 in found.found else []
    return Node("call", found.text(2), tuple(map(_node, (*target, *found.messages(3)))))


def _struct(found: _Fields) -> Node:
    entries = [_fields(entry) for entry in found.messages(2)]
    return Node("map", parts=tuple(_node(entry.message(number)) for entry in entries for number in (3, 4)))


def _comprehension(found: _Fields) -> Node:
    names = tuple(filter(None, (found.text(1), found.text(8), found.text(3))))
    return Node("loop", parts=tuple(_node(found.message(number)) for number in (2, 4, 5, 6, 7)), variables=names)


_KINDS: Final = {
    3: _const,
    4: lambda found: Node("ident", found.text(1)),
    5: _select,
    6: _function,
    7: lambda found: Node("list", parts=tuple(map(_node, found.messages(1)))),
    8: _struct,
    9: _comprehension,
}


def _fields(content: bytes) -> _Fields:
    found: dict[int, list[Any]] = {}
    for number, value in _read(content):
        found.setdefault(number, []).append(value)
    return _Fields(found)


def _read(content: bytes) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position < len(content):
        tag, position = _varint(content, position)
        kind, length = tag & 7, 0
        if kind == _VARINT:
            _, position = _varint(content, position)
        elif kind == _BYTES:
            length, position = _varint(content, position)
        else:
            length = _FIXED[kind]
        yield tag >> 3, content[position : position + length]
        position += length


def _varint(content: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[position]
        value |= (byte & _LOW) << shift
        position, shift = position + 1, shift + 7
        if byte < _MORE:
            return value, position
