"""Text functions of Go: quoted strings, UTF-8, base64, case folding of field names."""

from __future__ import annotations

import binascii
import re
import string
from functools import lru_cache
from typing import Any, Final

from shared.domain.go.float import plain_text

_ESCAPES: Final = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", '"': '\\"', "\\": "\\\\",
}  # fmt: skip
_LETTERS: Final = f"{string.ascii_letters}{string.digits}+/\r\n".encode()
_LINE_ENDS: Final = re.compile(rb"[\r\n]")
_NEEDS_TWO: Final = 2
_PADDING: Final = tuple(map(re.compile, (rb"(?!)", rb"(?!)", rb"=[\r\n]*(?:=[\r\n]*)?", rb"=[\r\n]*")))
"""What may end base64, by the number of letters in its last group of four."""
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
def encodable(text: str) -> str:
    """The text without halves of surrogate pairs, which JSON can escape, and for which UTF-8 has no bytes."""
    return text.encode(errors="replace").decode()


def fold(name: str) -> str:
    """The folded name of a field; a decoder treats names with the same folded name as equal."""
    return name.lower().replace("ſ", "s")


def from_base64(text: str) -> bytes:
    """The bytes in standard base64 with padding; line breaks are ignored. ValueError, in the words of Go."""
    whole = text.replace("\n", "").replace("\r", "")
    is_padded = whole.endswith("=") and len(whole.rstrip("=")) % 4 == 0  # after complete data: Python ignores it
    try:
        return binascii.a2b_base64("=" if is_padded else whole, strict_mode=True)
    except ValueError as error:
        raise ValueError(f"illegal base64 data at input byte {_flaw(text.encode(errors='replace'))}") from error


def _flaw(data: bytes) -> int:
    """Where Go sees that data is not base64: at an octet, or where that begins which is not complete."""
    end = len(data) - len(data.lstrip(_LETTERS))
    odd = len(_LINE_ENDS.sub(b"", data[:end])) % 4
    if end == len(data):
        return end - odd
    padding = _PADDING[odd].match(data, end)
    if padding is None:
        return end
    is_half = odd == _NEEDS_TWO and padding[0].count(b"=") == 1 and padding.end() < len(data)
    return padding.end() - is_half


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
