"""Reads YAML and JSON as the Go tools of Kubernetes do, with the same values and the same errors (fbc.md §2.1)."""

from __future__ import annotations

from functools import reduce
from typing import Any, Final

import orjson
import yaml

from shared.api.manifest import Manifest
from shared.domain.go.scalar import ScalarError
from shared.domain.go.yaml_reader import DEEPEST, Reader, YamlError

__all__ = ["DEEPEST", "YamlError", "document", "load", "load_value"]

_COLONS: Final = 50
"""Maximum number of colons in one document that Go accepts but libyaml refuses."""
_DEEPEST_HIDDEN: Final = 200
_MARK: Final = "\ue0fe"
_BYTE_ORDER: Final = "\ufeff"
_LETTER: Final = "\ue0ff"
"""What libyaml sees in place of a colon and of a byte order mark that Go reads as parts of a text."""
_LEADS: Final = ((0x80, 0x00, 1), (0xE0, 0xC0, 2), (0xF0, 0xE0, 3), (0xF8, 0xF0, 4))
"""How the first octet of a character says how many there are: a mask, the bits below it, the number."""
_SMALLEST: Final = (0, 0, 0x80, 0x800, 0x10000)
"""The smallest character for which that number of octets is needed."""
_FOLLOWER: Final = 0x80


def load(source: str | bytes) -> Manifest:
    """The first document of a text, which must be an object."""
    value = load_value(source)
    if not isinstance(value, dict):
        raise YamlError(f"wanted an object, got {'nothing' if value is None else type(value).__name__}")
    return value


def load_value(source: str | bytes) -> Any:  # why: any JSON value
    """The first document of a text, of any type; the rest is not read. None for an empty text."""
    text = _text(source)
    if text.lstrip()[:1] == "{":
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            pass  # flow YAML, or more than one object: the YAML reader reports the error
    return _document(text)


def document(content: bytes) -> Any:  # why: any JSON value
    """The only document of a text without separators. None when it is empty."""
    return _document(_text(content))


def _text(source: str | bytes) -> str:
    if isinstance(source, str):
        return source
    try:
        return source.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise YamlError(_why_not_utf8(source[error.start :]), line) from error


def _why_not_utf8(content: bytes) -> str:
    """Why the first octets are not a character."""
    width = next((width for mask, lead, width in _LEADS if content[0] & mask == lead), 0)
    followers = content[1:width]
    if not width:
        return "invalid leading UTF-8 octet"
    if len(followers) < width - 1:
        return "incomplete UTF-8 octet sequence"
    if any(octet & 0xC0 != _FOLLOWER for octet in followers):
        return "invalid trailing UTF-8 octet"
    number = reduce(lambda high, octet: high << 6 | octet & 0x3F, followers, content[0] & 0x7F >> width)
    return "invalid length of a UTF-8 sequence" if number < _SMALLEST[width] else "invalid Unicode character"


def _document(text: str) -> Any:
    try:
        return _read(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        raise YamlError(error.problem or error.context or str(error), line, _go_line(error)) from error
    except yaml.reader.ReaderError as error:
        raise YamlError(error.reason, text.count("\n", 0, error.position) + 1) from error
    except (yaml.YAMLError, ScalarError) as error:
        raise YamlError(str(error)) from error
    except RecursionError as error:
        raise YamlError("nested too deeply") from error


def _go_line(error: yaml.MarkedYAMLError) -> int:
    """The line in a message of Go, counted from 0 where the grammar is broken, from 1 where a character is; 0: none."""
    if error.problem_mark is not None and error.problem_mark.line:
        return error.problem_mark.line + isinstance(error, yaml.scanner.ScannerError)
    return error.context_mark.line if error.context_mark is not None else 0


def _read(text: str) -> Any:
    """The value. What Go reads as text is hidden from libyaml: the colon of `[a:]` and inner byte order marks."""
    hidden = text if text.find(_BYTE_ORDER, 1) < 0 else text[0] + text[1:].replace(_BYTE_ORDER, _LETTER)
    for _ in range(_COLONS):
        try:
            value = Reader(hidden).document()
        except yaml.scanner.ScannerError as error:
            if error.problem != "found unexpected ':'" or _MARK in text:
                raise
            at = error.problem_mark.index  # type: ignore[union-attr]  # why: errors of a scanner have one
            hidden = f"{hidden[:at]}{_MARK}{hidden[at + 1 :]}"
        else:
            return value if hidden is text else _shown(value)
    return Reader(hidden).document()


def _shown(value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST_HIDDEN:
        raise YamlError("nested too deeply")
    match value:
        case str():
            return value.replace(_MARK, ":").replace(_LETTER, _BYTE_ORDER)
        case dict():
            return {_shown(key): _shown(one, depth + 1) for key, one in value.items()}
        case list():
            return [_shown(one, depth + 1) for one in value]
    return value
