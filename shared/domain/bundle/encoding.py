"""The text of a JSON value as Go writes it: compact, characters of HTML escaped, numbers in Go's form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import orjson

from shared.domain.gofloat import json_text as number_text

_ESCAPES: Final = {char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def json_text(value: Any, *, is_sorted: bool = True, escape_html: bool = True) -> str:  # why: any JSON value
    """The text of a value; keys sorted, or in the order in which they are."""
    written = _quickly(value, is_sorted=is_sorted)
    if escape_html:
        for char, escape in _ESCAPES.items():
            if char in written:
                written = written.replace(char, escape)
    return written


def _quickly(value: Any, *, is_sorted: bool) -> str:
    """Fractions are written in another way by others, and there is hardly ever one."""
    if not _has_fraction(value):
        try:
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if is_sorted else 0).decode()
        except orjson.JSONEncodeError:
            pass  # an integer of more than 64 bits, or half a surrogate pair
    pieces: list[str] = []
    _write(value, is_sorted=is_sorted, pieces=pieces)
    # Half a surrogate pair, which JSON can escape, has no place in UTF-8: Go writes the replacement character.
    return "".join(pieces).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _has_fraction(value: Any) -> bool:
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


def _write(value: Any, *, is_sorted: bool, pieces: list[str]) -> None:
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
