"""Resolves scalars of YAML as the Go tools of Kubernetes do: YAML 1.1 words, octal numbers, 32-bit keys."""

from __future__ import annotations

import base64
import math
import re
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Final

_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_SPECIAL: Final = {
    sign + dot_inf: float(sign + "inf") for sign in ("", "+", "-") for dot_inf in (".inf", ".Inf", ".INF")
} | dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan)
_GO_INFINITE: Final = {".inf": "+Inf", "-.inf": "-Inf", ".nan": "NaN"}
_NUMERIC_START: Final = frozenset("0123456789+-.")
_INTEGER: Final = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_TIMESTAMP: Final = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?:[Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})"
    r"| [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?)?"
)
_BASES: Final = (16, 2, 8, 10)
_INT64: Final = 2**63
_MOST_DIGITS: Final = 64
"""Maximum number of digits of an integer, in base 2."""
_EXACT_FLOAT: Final = 2.0**53
_PLAIN_EXPONENT: Final = 1e21
"""Below this, Go writes an integer in JSON without an exponent."""
_KEY_EXPONENT: Final = 6
"""From here on, the key of a mapping is written with an exponent."""
_TAG: Final = "tag:yaml.org,2002:"


class ScalarError(ValueError):
    """A scalar has no JSON value."""


def plain(text: str) -> object:
    """The JSON value of an untagged plain scalar."""
    if text in _WORDS:
        return _WORDS[text]
    return text if text[0] not in _NUMERIC_START else json_value(_number(text))


def resolve(text: str) -> object:
    """The value of an untagged plain scalar, before it becomes a JSON value or a key."""
    if text in _WORDS:
        return _WORDS[text]
    return text if text[0] not in _NUMERIC_START else _number(text)


def _number(text: str) -> object:
    digits = text if text[0] == "." else text.replace("_", "")
    if match := _INTEGER.fullmatch(digits):
        index, body = next((i, group) for i, group in enumerate(match.groups()[1:]) if group)
        significant = body.lstrip("0")
        if len(significant) <= _MOST_DIGITS:  # Python refuses to parse integers of thousands of digits
            number = int(significant or "0", _BASES[index]) * (-1 if match[1] == "-" else 1)
            if -_INT64 <= number < 2 * _INT64:
                return number
    if _FLOAT.fullmatch(digits):
        number_or_infinity = float(digits)
        return text if math.isinf(number_or_infinity) else number_or_infinity
    return _SPECIAL.get(text, text)


def json_value(value: object) -> object:
    """The JSON value of a resolved scalar; whole floats become integers, with the digits Go writes."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        raise ScalarError(f"json: unsupported value: {_GO_INFINITE[_go_float(value)]}")
    if not value.is_integer() or abs(value) >= _PLAIN_EXPONENT:
        return value
    return int(value) if abs(value) < _EXACT_FLOAT else int(Decimal(repr(value)))


def key_text(value: object) -> str:
    """A resolved scalar as the key of a JSON object."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() if value < _INT64:
            return str(value)
        case float():
            return _go_float(value)
    raise ScalarError(f"unsupported map key of type: {type(value).__name__}, key: {value!r}")


def _single(value: float) -> float:
    """The nearest 32-bit float."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _go_float(value: float) -> str:
    """The shortest text of the nearest 32-bit float, which is how Go writes the key of a mapping."""
    single = _single(value)
    if not math.isfinite(single):
        return ".nan" if math.isnan(single) else ".inf" if single > 0 else "-.inf"
    digits = next(text for precision in range(9) if _single(float(text := f"{single:.{precision}e}")) == single)
    mantissa, _, exponent = digits.partition("e")
    if -4 <= int(exponent) < _KEY_EXPONENT:
        return f"{Decimal(digits):f}"
    return f"{mantissa}e{exponent}"


def _binary(text: str) -> str:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
    except ValueError as error:
        raise ScalarError("!!binary value contains invalid base64 data") from error


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_HAS_TYPE: Final[dict[str, Callable[[object], bool]]] = {
    "int": _is_integer,
    "float": lambda value: isinstance(value, float) or _is_integer(value),
    "bool": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


def tagged(tag: str, text: str) -> object:
    """The value of a scalar with an explicit tag; with a custom tag it is the text."""
    name = tag.removeprefix(_TAG)
    if name == "binary":
        return _binary(text)
    if name == "timestamp" and not _TIMESTAMP.fullmatch(text):
        raise _undecodable(resolve(text), text, name)
    if name not in _HAS_TYPE or name == tag:
        return text
    value = resolve(text)
    if not _HAS_TYPE[name](value):
        raise _undecodable(value, text, name)
    return value


def _undecodable(value: object, text: str, name: str) -> ScalarError:
    """The error for a text that has a value of another type than its tag says."""
    found = "null" if value is None else "str" if isinstance(value, str) else type(value).__name__
    return ScalarError(f"cannot decode !!{found} `{text}` as a !!{name}")
