"""JSON as Go writes it, byte for byte (fbc.md §8.1): blobs of one line, and blobs indented by four blanks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec
import orjson

from shared.domain.gofloat import json_text

_INDENT: Final = 4
_SEPARATORS: Final = (("\u2028".encode(), b"\\u2028"), ("\u2029".encode(), b"\\u2029"))
_HTML: Final = ((b"<", b"\\u003c"), (b">", b"\\u003e"), (b"&", b"\\u0026"))

_Value: TypeAlias = Any  # why: any JSON value


def to_json(value: Mapping[str, _Value], *, escapes_html: bool = False) -> bytes:
    """One document over several lines, and the end of its last line."""
    return msgspec.json.format(compact(value, escapes_html=escapes_html), indent=_INDENT) + b"\n"


def compact(value: _Value, *, is_sorted: bool = False, escapes_html: bool = False) -> bytes:
    """A value without blanks, its keys in their order or sorted by code point."""
    try:
        text = orjson.dumps(_plain(value), option=orjson.OPT_SORT_KEYS if is_sorted else None)
    except TypeError:  # a number of more than 64 bits, half a surrogate pair, or very deep nesting
        text = _slow(value, is_sorted=is_sorted)
    for raw, escaped in (*_SEPARATORS, *(_HTML if escapes_html else ())):
        if raw in text:
            text = text.replace(raw, escaped)
    return text


def _plain(value: _Value) -> _Value:
    """The value, its floating point numbers written as Go does."""
    return _spelled(value) if _has_float(value) else value


def _has_float(value: _Value) -> bool:
    if value.__class__ is dict:
        return any(map(_has_float, value.values()))
    return any(map(_has_float, value)) if value.__class__ is list else value.__class__ is float


def _spelled(value: _Value) -> _Value:
    if isinstance(value, Mapping):
        return {key: _spelled(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_spelled(one) for one in value]
    return orjson.Fragment(json_text(value)) if isinstance(value, float) else value


def _slow(value: _Value, *, is_sorted: bool) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=is_sorted)
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
