"""Texts as Go writes them: quoted strings, base64, the folding of field names."""

from __future__ import annotations

import binascii
from typing import Final

_ESCAPES: Final = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", '"': '\\"', "\\": "\\\\",
}  # fmt: skip
_ASCII: Final = 0x80
_BASIC_PLANE: Final = 0x10000


def quoted(text: str) -> str:
    """A text between double quotes, with escapes for whatever cannot be seen."""
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


def fold(name: str) -> str:
    """What the names of a field have in common that a decoder takes for the same."""
    return name.lower().replace("ſ", "s")


def from_base64(text: str) -> bytes:
    """Standard base64 with padding; line breaks do not count. ValueError otherwise."""
    if "\n" in text or "\r" in text:
        text = text.replace("\n", "").replace("\r", "")
    return binascii.a2b_base64(text, strict_mode=True)
