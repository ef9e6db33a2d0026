"""Text functions of Go: quoted strings, base64, case folding of field names."""

from __future__ import annotations

import binascii
from functools import lru_cache
from typing import Any, Final

from shared.domain.go.float import plain_text

_ESCAPES: Final = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", '"': '\\"', "\\": "\\\\",
}  # fmt: skip
_ASCII: Final = 0x80
_BASIC_PLANE: Final = 0x10000
_DEEPEST_SHOWN: Final = 20


def quoted(text: str) -> str:
    """A text in double quotes, with escapes for characters that are not printable."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < _ASCII else f"\\u{code:04x}" if code < _BASIC_PLANE else f"\\U{code:08x}"


@lru_cache(maxsize=4096)
def fold(name: str) -> str:
    """The folded name of a field; a decoder treats names with the same folded name as equal."""
    return name.lower().replace("ſ", "s")


def from_base64(text: str) -> bytes:
    """The bytes in standard base64 with padding; line breaks are ignored. ValueError when it is not valid."""
    if "\n" in text or "\r" in text:
        text = text.replace("\n", "").replace("\r", "")
    if text.endswith("=") and len(text.rstrip("=")) % 4 == 0:
        raise ValueError("padding after complete data")  # Python ignores it
    return binascii.a2b_base64(text, strict_mode=True)


def as_opm_prints(value: Any) -> str:  # why: any JSON value
    """A value of the wrong type as opm prints it in messages: formatted as a boolean, then as it is."""
    return f"{_as_truth(value)}: {_plain(value)}"


def _as_truth(value: Any, depth: int = 0) -> str:
    if depth > _DEEPEST_SHOWN:
        return "..."
    match value:
        case bool():
            return _plain(value)
        case None:
            return "%!t(<nil>)"
        case dict():
            return f"map[{' '.join(f'{_as_truth(key)}:{_as_truth(value[key], depth + 1)}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join('<nil>' if one is None else _as_truth(one, depth + 1) for one in value)}]"
    return f"%!t({'string' if isinstance(value, str) else 'float64'}={_plain(value)})"


def _plain(value: Any, depth: int = 0) -> str:
    if depth > _DEEPEST_SHOWN:
        return "..."
    match value:
        case bool():
            return "true" if value else "false"
        case None:
            return "<nil>"
        case dict():
            return f"map[{' '.join(f'{key}:{_plain(value[key], depth + 1)}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join(_plain(one, depth + 1) for one in value)}]"
        case int() | float():
            return plain_text(float(value))
    return str(value)
