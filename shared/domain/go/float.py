"""Formats floating point numbers as Go does in JSON, in YAML and in messages."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

_LOWEST_PLAIN: Final = -7
"""The bounds between which a power of ten needs no exponent in JSON (and, below, in other texts)."""
_HIGHEST_PLAIN: Final = 21
_LOWEST_SHORT: Final = -4
_HIGHEST_SHORT: Final = 6


def json_text(number: float) -> str:
    """The shortest digits; with an exponent only if the number is very small or very large."""
    digits = Decimal(repr(number))
    if _LOWEST_PLAIN < digits.adjusted() < _HIGHEST_PLAIN or not number:
        text = f"{digits:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return _scientific(digits, 1)


def yaml_text(number: float) -> str:
    """The shortest digits; with an exponent from one million on, unless the number is an integer of 64 bits."""
    if number.is_integer() and -(2**63) <= int(number) < 2**64:
        return str(int(number))
    return plain_text(number)


def plain_text(number: float) -> str:
    """The shortest digits, as Go prints them; with an exponent from one million on."""
    digits = Decimal(repr(float(number)))
    if _LOWEST_SHORT <= digits.adjusted() < _HIGHEST_SHORT or not number:
        return f"{digits:f}".removesuffix(".0")
    return _scientific(digits, 2)


def _scientific(digits: Decimal, width: int) -> str:
    sign, figures, _ = digits.as_tuple()
    text = "".join(map(str, figures)).rstrip("0")
    mantissa = f"{text[0]}.{text[1:]}".rstrip(".")
    exponent = digits.adjusted()
    return f"{'-' * sign}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):0{width if exponent < 0 else 2}d}"
