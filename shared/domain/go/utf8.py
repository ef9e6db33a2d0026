"""What the YAML library of Go says of octets that are not UTF-8."""

from __future__ import annotations

from functools import reduce
from typing import Final

_LEADS: Final = ((0x80, 0x00, 1), (0xE0, 0xC0, 2), (0xF0, 0xE0, 3), (0xF8, 0xF0, 4))
"""How the first octet of a character says how many there are: a mask, the bits below it, the number."""
_SMALLEST: Final = (0, 0, 0x80, 0x800, 0x10000)
"""The smallest character for which that number of octets is needed."""
_FOLLOWER: Final = 0x80


def why_not_utf8(content: bytes) -> str:
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
