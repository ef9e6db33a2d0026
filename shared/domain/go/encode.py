"""Writes JSON as Go does, byte for byte (fbc.md §8.1): on one line, or indented by four spaces."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

import msgspec
import orjson

from shared.domain.go import json as gojson
from shared.domain.go.float import json_text as number_text

_INDENT: Final = 4
_SEPARATORS: Final = (("\u2028".encode(), b"\\u2028"), ("\u2029".encode(), b"\\u2029"))
_HTML: Final = ((b"<", b"\\u003c"), (b">", b"\\u003e"), (b"&", b"\\u0026"))

_Value: TypeAlias = Any  # why: any JSON value


def json_text(value: _Value, *, is_sorted: bool = True, escapes_html: bool = True) -> str:
    """A value on one line, as `json.Marshal` writes it; keys are sorted by code point, or keep their order."""
    return _json(value, is_sorted=is_sorted, escapes_html=escapes_html).decode()


def normalized(content: bytes) -> bytes:
    """A JSON text as Go writes it that has read it into a map: on one line, keys sorted, nothing escaped for HTML."""
    found = read_and_normalized(content)
    return found[1] if found else _json(gojson.loads(content), is_sorted=True, escapes_html=False)


def read_and_normalized(content: bytes | memoryview) -> tuple[_Value, bytes] | None:
    """The value of a JSON text, and the text normalized; None when that takes the slow way, e.g. for a fraction."""
    try:
        value = _without_fractions(content)
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (_FractionError, msgspec.DecodeError, UnicodeDecodeError, RecursionError, orjson.JSONEncodeError):
        return None
    return value, _escaped(text, _SEPARATORS)


class _FractionError(Exception):
    """A text holds a number that Go may write in another way."""


def _refuse(_: str) -> float:
    raise _FractionError


_without_fractions: Final = msgspec.json.Decoder(float_hook=_refuse).decode
"""Reads a text and meets its fractions on the way: to look for them in what was read takes as long as to read it."""


def ordered(value: _Value) -> _Value:
    """A value with the keys of its objects sorted, as Go writes whatever it has read into a map."""
    if value.__class__ is dict:
        return {key: ordered(value[key]) for key in sorted(value)}
    return [ordered(one) for one in value] if value.__class__ is list else value


def indented_json(value: Mapping[str, _Value], *, escapes_html: bool = False) -> bytes:
    """A document on several lines, keys in their order, with a line break at the end."""
    content = _json(value, is_sorted=False, escapes_html=escapes_html)
    return msgspec.json.format(content, indent=_INDENT) + b"\n"


def _json(value: _Value, *, is_sorted: bool, escapes_html: bool) -> bytes:
    numbers = _with_go_floats(value) if _has_fraction(value) else value
    try:
        text = orjson.dumps(numbers, option=orjson.OPT_SORT_KEYS if is_sorted else None)
    except orjson.JSONEncodeError:  # a number of more than 64 bits, half a surrogate pair, or very deep nesting
        text = _slowly(value, is_sorted=is_sorted)
    return _escaped(text, (*_SEPARATORS, *_HTML) if escapes_html else _SEPARATORS)


def _escaped(text: bytes, pairs: Iterable[tuple[bytes, bytes]]) -> bytes:
    for raw, escaped in pairs:
        if raw[-1:] in text and raw in text:  # its last byte is found faster, and mostly is not there
            text = text.replace(raw, escaped)
    return text


def _has_fraction(value: _Value) -> bool:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        kind = one.__class__
        if kind is float:
            return True
        if kind is dict:
            waiting.extend(one.values())
        elif kind is list:
            waiting.extend(one)
    return False


def _with_go_floats(value: _Value) -> _Value:
    """The value with its floats as text in Go's form, which orjson copies unchanged."""
    if isinstance(value, Mapping):
        return {key: _with_go_floats(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_go_floats(one) for one in value]
    return orjson.Fragment(number_text(value)) if isinstance(value, float) else value


def _slowly(value: _Value, *, is_sorted: bool) -> bytes:
    pieces: list[str] = []
    _write(value, is_sorted=is_sorted, pieces=pieces)
    # Half a surrogate pair, which JSON can escape, is not valid in UTF-8: Go writes the replacement character.
    return "".join(pieces).encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _write(value: _Value, *, is_sorted: bool, pieces: list[str]) -> None:
    if isinstance(value, Mapping):
        pieces.append("{")
        for number, key in enumerate(sorted(value) if is_sorted else value):
            pieces.append(f"{',' if number else ''}{json.dumps(key, ensure_ascii=False)}:")
            _write(value[key], is_sorted=is_sorted, pieces=pieces)
        pieces.append("}")
    elif isinstance(value, list):
        pieces.append("[")
        for number, item in enumerate(value):
            pieces.append("," if number else "")
            _write(item, is_sorted=is_sorted, pieces=pieces)
        pieces.append("]")
    elif isinstance(value, float):
        pieces.append(number_text(value))
    else:
        pieces.append(json.dumps(value, ensure_ascii=False))
