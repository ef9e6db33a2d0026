"""The text of a JSON value as Go writes it: compact, characters of HTML escaped, numbers in Go's form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

_ESCAPES: Final = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})
_SMALLEST_PLAIN: Final = 1e-6
_LARGEST_PLAIN: Final = 1e21


def json_text(value: Any, *, is_sorted: bool = True, escape_html: bool = True) -> str:  # why: any JSON value
    """The text of a value; keys sorted, or in the order in which they are."""
    written = "".join(_pieces(value, is_sorted))
    # Half a surrogate pair, which JSON can escape, has no place in UTF-8: Go writes the replacement character.
    written = written.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return written.translate(_ESCAPES) if escape_html else written


def _pieces(value: Any, is_sorted: bool) -> list[str]:
    pieces: list[str] = []
    _write(value, is_sorted, pieces)
    return pieces


def _write(value: Any, is_sorted: bool, pieces: list[str]) -> None:
    if isinstance(value, Mapping):
        pieces.append("{")
        for number, key in enumerate(sorted(value) if is_sorted else value):
            pieces.append(f"{',' if number else ''}{json.dumps(key, ensure_ascii=False)}:")
            _write(value[key], is_sorted, pieces)
        pieces.append("}")
    elif isinstance(value, list | tuple):
        pieces.append("[")
        for number, item in enumerate(value):
            pieces.append("," if number else "")
            _write(item, is_sorted, pieces)
        pieces.append("]")
    elif isinstance(value, float):
        pieces.append(_number(value))
    else:
        pieces.append(json.dumps(value, ensure_ascii=False))


def _number(value: float) -> str:
    if value == 0 or _SMALLEST_PLAIN <= abs(value) < _LARGEST_PLAIN:
        plain = f"{Decimal(repr(value)):f}"
        return plain.removesuffix(".0")
    mantissa, _, exponent = f"{Decimal(repr(value)):e}".partition("e")
    return f"{mantissa}e{'-' if exponent[0] == '-' else '+'}{exponent[1:].lstrip('0'):0>2}".replace("e-0", "e-")
