"""Quantities as Kubernetes writes them: `1024Mi` becomes `1Gi`, a text that is already short stays as it is."""

from __future__ import annotations

import re
from decimal import ROUND_UP, Context, Decimal
from typing import Final

_QUANTITY: Final = re.compile(
    r"([+-]?)([0-9]{0,64})(?:\.([0-9]{0,64}))?(?:([KMGTPE]i)|([numkMGTPE]?)|[eE]([+-]?[0-9]{1,3}))"
)
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_UNITS: Final = {power: unit for unit, power in _DECIMAL.items()}
_BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_EXACT: Final = Context(prec=1200, rounding=ROUND_UP)
_NANO: Final = Decimal("1e-9")
_KIBI: Final = Decimal(1024)
_LARGEST: Final = Decimal(2**63 - 1)
"""No amount in powers of 1024 is larger than this."""
_FAST_DIGITS: Final = 18
_FAST_BINARY_DIGITS: Final = 14
_DIGITS_PER_BIT: Final = 0.3


class NotAQuantity(ValueError):
    """A text is not a quantity."""


def canonical(text: str) -> str:
    """The text that Kubernetes writes for a quantity. NotAQuantity when the text is not one."""
    match = _QUANTITY.fullmatch(text)
    if match is None or not text:
        raise NotAQuantity(f"{text!r} is no quantity such as 500m or 1Gi")
    sign, whole, fraction, binary, unit, exponent = match.groups()
    digits, fraction = whole.lstrip("0") or "0", fraction or ""
    number = Decimal(f"{sign}{digits}.{fraction or '0'}")
    if binary:
        if not fraction and _is_short_binary(digits, _BINARY.index(binary)):
            return text
        return _binary(_EXACT.multiply(number, _KIBI ** _BINARY.index(binary)))
    power = int(exponent) if exponent else _DECIMAL[unit]
    if _is_short(digits, fraction, power):
        return text
    return _decimal(number.scaleb(power, _EXACT), has_units=not exponent)


def _is_short_binary(digits: str, power: int) -> bool:
    """Whether Kubernetes keeps the text of so many bytes: it looks at the last bits of the number only."""
    return len(digits) <= _FAST_BINARY_DIGITS - int(power * 10 * _DIGITS_PER_BIT) and int(digits) % 8 != 0


def _is_short(digits: str, fraction: str, power: int) -> bool:
    shifted, scale = digits + fraction, power - len(fraction)
    if len(shifted) > _FAST_DIGITS or scale < min(_UNITS):
        return False
    return scale % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"


def _binary(amount: Decimal) -> str:
    amount = min(amount, _LARGEST) if amount > 0 else amount
    if abs(amount) < _KIBI or amount != amount.to_integral_value():
        return _decimal(amount, has_units=True)
    number, power = int(amount), 0
    while power < len(_BINARY) - 1 and number % 1024 == 0:
        number, power = number // 1024, power + 1
    return f"{number}{_BINARY[power]}"


def _decimal(amount: Decimal, *, has_units: bool) -> str:
    """The amount with a unit, or else with an exponent; less than a billionth is written as a billionth."""
    number, power = int(amount.quantize(_NANO, context=_EXACT).scaleb(9, _EXACT)), min(_UNITS)
    if not number:
        return "0"
    while number % 1000 == 0 and (power < max(_UNITS) or not has_units):
        number, power = number // 1000, power + 3
    unit = _UNITS[power] if has_units else f"e{power}" if power else ""
    return f"{number}{unit}"
