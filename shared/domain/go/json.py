"""Reads JSON as Go does, with the same values and the same errors; fast for plain texts (fbc.md §2.1)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

from shared.domain.go.text import quoted

LARGEST: Final = 128 * 2**20
"""Maximum size of one object of a stream, in bytes, which limits the memory."""
END: Final = "unexpected EOF"
"""The error message for a stream that ends too early."""
CUT_OFF: Final = "unexpected end of JSON input"
"""The same for a text that has to be one value."""
_DEEPEST: Final = 10_000
"""Maximum depth of nested values in Go."""
_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_PIECE: Final = re.compile(rb'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))?')
"""Of a text: letters, and an escape."""
_NUMBER: Final = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORDS: Final = {b"t": ("true", True), b"f": ("false", False), b"n": ("null", None)}
_HEX: Final = re.compile(rb"[0-9a-fA-F]*")
_BRACES: Final = re.compile(rb'[{}]|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""A text without an end is one to the end: what is quoted in it is not tried as a beginning."""
_ESCAPE: Final = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_LETTERS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


_KINDS: Final = {
    dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number", type(None): "null",
}  # fmt: skip

TYPES: Final[Mapping[type, str]] = {
    dict: "map[string]interface {}", list: "[]interface {}", str: "string", bool: "bool", int: "int64",
    float: "float64", type(None): "<nil>",
}  # fmt: skip
"""The types of Go that JSON values are read into, where no type is asked for."""


class JsonError(ValueError):
    """A text is not valid JSON; `offset` is the position of the error, in bytes."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def kind_of(value: object) -> str:
    """What the errors of Go call a JSON value."""
    return _KINDS[type(value)]


def misfit(found: str, desired: str, field: str = "") -> str:
    """Go's message for a value that does not fit a type; `field` is `Type.field`, empty for a value of its own."""
    place = f"Go struct field {field}" if field else "Go value"
    return f"json: cannot unmarshal {found} into {place} of type {desired}"


def loads(content: bytes | memoryview) -> Any:  # why: any JSON value
    """The value of a whole text. JsonError when it has no value, or more than one."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        # Go accepts more: invalid UTF-8, halves of surrogate pairs, deeper nesting.
        reader = _Reader(bytes(content), end=CUT_OFF)
        value = reader.value()
        if (rest := reader.skip_space()) < len(reader.content):
            raise JsonError(
                f"invalid character {_named(reader.content, rest)} after top-level value", rest + 1
            ) from None
        return value


def first(content: bytes, start: int = 0) -> tuple[Any, int]:  # why: any JSON value
    """The value that begins at an offset, and the offset of its end; the rest is not read."""
    end = _end_of_object(content, start)
    if end is None and len(content) - start > LARGEST:
        raise JsonError(f"an object of more than {LARGEST >> 20} MiB", start)
    if end is not None:
        try:
            return orjson.loads(memoryview(content)[start:end]), end
        except orjson.JSONDecodeError:
            pass  # the slow reader accepts more, or reports the error
    reader = _Reader(content, start)
    return reader.value(), reader.position


def _end_of_object(content: bytes, start: int) -> int | None:
    depth = 0
    for match in _BRACES.finditer(content, start, start + LARGEST):
        token = content[match.start()]
        if token == 0x7B:
            depth += 1
        elif token == 0x7D:
            depth -= 1
            if depth <= 0:
                return match.end()
    return None


class _Reader:
    """Reads one value at a time without recursion, so that deep nesting needs no stack."""

    def __init__(self, content: bytes, position: int = 0, end: str = END) -> None:
        self.content = content
        self.position = position
        self._end = end

    def skip_space(self) -> int:
        match = _SPACE.match(self.content, self.position)
        self.position = match.end() if match else self.position
        return self.position

    def value(self) -> Any:  # why: any JSON value
        """The next value; open containers are on a stack, each with its key in the container around it."""
        open_: list[tuple[Any, str]] = []
        while True:
            found: Any = self._begin(open_)
            if found is _OPENED:
                continue
            while open_:
                container, key = open_[-1]
                if isinstance(container, dict):
                    container[key] = found
                else:
                    container.append(found)
                if self._has_more(container, open_):
                    break
                found = open_.pop()[0]
            else:
                return found

    def _begin(self, open_: list[tuple[Any, str]]) -> Any:
        """A scalar or an empty container; or _OPENED when a container was put on the stack."""
        character = self._peek("looking for beginning of value")
        if character not in (b"{", b"["):
            return self._scalar(character)
        container: Any = {} if character == b"{" else []
        self.position += 1
        if self._peek("looking for beginning of value") == (b"}" if character == b"{" else b"]"):
            self.position += 1
            return container
        if len(open_) >= _DEEPEST:
            raise JsonError("exceeded max depth", self.position)
        open_.append((container, self._key() if character == b"{" else ""))
        return _OPENED

    def _has_more(self, container: Any, open_: list[tuple[Any, str]]) -> bool:
        is_object = isinstance(container, dict)
        where = "after object key:value pair" if is_object else "after array element"
        character = self._peek(where)
        if character == b",":
            self.position += 1
            if is_object:
                open_[-1] = (container, self._key())
            return True
        if character != (b"}" if is_object else b"]"):
            raise self._wrong(where)
        self.position += 1
        return False

    def _key(self) -> str:
        if self._peek("looking for beginning of object key string") != b'"':
            raise self._wrong("looking for beginning of object key string")
        key = self._text()
        if self._peek("after object key") != b":":
            raise self._wrong("after object key")
        self.position += 1
        return key

    def _scalar(self, character: bytes) -> Any:
        if character == b'"':
            return self._text()
        if character in _WORDS:
            return self._word(*_WORDS[character])
        match = _NUMBER.match(self.content, self.position)
        if match is None:
            self.position += character == b"-"
            raise self._wrong("in numeric literal" if character == b"-" else "looking for beginning of value")
        self.position = match.end()
        return self._number(match[0].decode())

    def _word(self, word: str, value: object) -> object:
        for letter in word:
            if self.content[self.position : self.position + 1] != letter.encode():
                raise self._wrong(f"in literal {word} (expecting {letter!r})")
            self.position += 1
        return value

    def _number(self, digits: str) -> int | float:
        if digits.lstrip("-").isdigit() and len(digits) <= _EXACT_DIGITS:
            return int(digits)
        number = float(digits)
        if math.isinf(number):
            raise JsonError(f"json: cannot unmarshal number {digits} into Go value of type float64", self.position)
        return number

    def _text(self) -> str:
        start = self.position = self.position + 1
        while (piece := _PIECE.match(self.content, self.position)) and piece[0]:
            self.position = piece.end()
        if self.content[self.position : self.position + 1] != b'"':
            raise self._wrong_text()
        text = self.content[start : self.position].decode("utf-8", "replace")
        self.position += 1
        if "\\" not in text:
            return text
        halves = _ESCAPE.sub(_unescaped, text)
        return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _wrong_text(self) -> JsonError:
        if self.content[self.position : self.position + 1] != b"\\":
            return self._wrong("in string literal")
        self.position += 1
        if self.content[self.position : self.position + 1] != b"u":
            return self._wrong("in string escape code")
        digits = _HEX.match(self.content, self.position + 1)
        self.position = digits.end() if digits else self.position
        return self._wrong("in \\u hexadecimal character escape")

    def _peek(self, where: str) -> bytes:
        """The next character that is not white space. JsonError at the end."""
        if self.skip_space() >= len(self.content):
            raise self._wrong(where)
        return self.content[self.position : self.position + 1]

    def _wrong(self, where: str) -> JsonError:
        if self.position >= len(self.content):
            return JsonError(self._end, self.position)
        return JsonError(f"invalid character {_named(self.content, self.position)} {where}", self.position + 1)


_OPENED: Final = object()
_EXACT_DIGITS: Final = 300


def _named(content: bytes, position: int) -> str:
    character = chr(content[position])
    special = {"'": "\\'", '"': '"'}
    return f"'{special.get(character) or quoted(character)[1:-1]}'"


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return _LETTERS.get(match[2], match[2])
