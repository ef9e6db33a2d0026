"""Single values as Go reads them, with the words of its refusals: of encoding/json, and of Kubernetes' converter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from shared.domain.go import json as gojson
from shared.domain.go.float import json_text
from shared.domain.go.text import quoted
from shared.domain.go_types.engine import MisfitError, Reader
from shared.domain.go_types.quantity import NotAQuantity, canonical
from shared.domain.semver.version import InvalidVersion, parse_tolerant, prerelease_of

_SUFFIX: Final = re.compile(r"[+-]?[0-9]*(?:\.[0-9]*)?[eEinumkKMGTP]*[-+]?[0-9]*")
_NO_QUANTITY: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_TIME: Final = (
    ("2006", "[0-9]{4}"), ("-", "-"), ("01", "[0-9]{2}"), ("-", "-"), ("02", "[0-9]{2}"), ("T", "T"),
    ("15", "[0-9]{1,2}"), (":", ":"), ("04", "[0-9]{2}"), (":", ":"), ("05", r"[0-9]{2}(?:[.,][0-9]+)?"),
    ("Z07:00", "Z|[-+][0-9]{2}:[0-9]{2}"),
)  # fmt: skip
"""How Go writes the parts of a time in its layouts, and what they look like."""
_INT64: Final = range(-(2**63), 2**63)


def kind_of(value: object) -> str:
    """What the converter calls a decoded JSON value."""
    match value:
        case bool():
            return "bool"
        case int():
            return "int64" if value in _INT64 else "float64"
        case float():
            return "float64"
        case str():
            return "string"
        case list():
            return "slice"
    return "map"


def misfit(value: object, wanted: str) -> MisfitError:
    """The refusal of encoding/json: a value is not of the type that Go calls so."""
    return _numbered(gojson.kind_of(value), wanted)


def _numbered(found: str, wanted: str) -> MisfitError:
    return MisfitError(lambda place: gojson.misfit(found, wanted, place))


def _json(kind: str, wanted: str, made: Reader = lambda value: value) -> Reader:
    """The reader of JSON values of a kind."""

    def read(value: Any) -> Any:
        if gojson.kind_of(value) != kind:
            raise misfit(value, wanted)
        return made(value)

    return read


def _json_integer(bits: int) -> Reader:
    """The reader of integers of so many bits."""
    half = 2 ** (bits - 1)

    def read(value: Any) -> int:
        # Numbers go through floating point on their way, so large ones are not exact any more.
        written = json_text(float(value))
        if not written.lstrip("-").isdigit() or not -half <= int(written) < half:
            raise _numbered(f"number {written}", f"int{bits}")
        return int(value)

    return _json("number", f"int{bits}", read)


def text(value: Any) -> str:
    """A text; the place of a refusal is the name of its type."""
    if isinstance(value, str):
        return value
    if kind_of(value) == "int64":
        raise MisfitError(lambda place: f"cannot convert int64 to {place}")
    raise MisfitError("unrecognized type: string")


def boolean(value: Any) -> bool:
    """A truth value."""
    if isinstance(value, bool):
        return value
    raise MisfitError("unrecognized type: bool")


def integer(bits: int) -> Reader:
    """The reader of integers of so many bits; larger ones lose what does not fit."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise MisfitError(f"unrecognized type: int{bits}")
        if isinstance(value, float) and not value.is_integer():
            raise MisfitError(f"cannot convert float64 to int{bits}")
        half: int = 2 ** (bits - 1)
        return (int(value) + half) % (2 * half) - half

    return read


def number(value: Any) -> int | float:
    """A floating point number; whole ones without a point."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MisfitError("unrecognized type: float64")
    written = json_text(float(value))
    return float(written) if set(written) & set(".eE") else int(written)


def quantity(value: Any) -> str:
    """An amount, in the form in which Kubernetes writes it."""
    stated = value.strip() if isinstance(value, str) else _json_of(value)
    try:
        return canonical(stated)
    except NotAQuantity as error:
        raise MisfitError(_quantity_problem(stated)) from error


def _json_of(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value) if isinstance(value, int) else json_text(value)
    return "[]" if isinstance(value, list) else "{}"


def _quantity_problem(stated: str) -> str:
    return "unable to parse quantity's suffix" if stated and _SUFFIX.fullmatch(stated) else _NO_QUANTITY


def int_or_text(value: Any) -> int | str:
    """A port by number or by name."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31:
        return value
    what = gojson.kind_of(value)
    raise MisfitError(gojson.misfit(f"number {_json_of(value)}" if what == "number" else what, "int32"))


def time(value: Any) -> str:
    """A point in time, in UTC, without fractions of a second."""
    stated = _json_text(value)
    why = _time_problem(stated)
    try:
        if not why:
            return datetime.fromisoformat(stated).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError):  # in UTC, the year may be 0 or 10000
        why = ": day out of range"
    raise MisfitError(f"parsing time {quoted(stated)}{why}")


def _time_problem(stated: str) -> str:
    rest = stated
    for layout, pattern in _TIME:
        match = re.match(pattern, rest)
        if match is None:
            return f' as "2006-01-02T15:04:05Z07:00": cannot parse {quoted(rest)} as {quoted(layout)}'
        rest = rest[match.end() :]
    return f": extra text: {quoted(rest)}" if rest else ""


def version(value: Any) -> str:
    """The version of an operator."""
    try:
        return str(parse_tolerant(_json_text(value)))
    except InvalidVersion as error:
        raise MisfitError(str(error)) from error


def release(value: Any) -> str:
    """The release of an operator."""
    stated = _json_text(value)
    try:
        prerelease_of(stated)
    except InvalidVersion as error:
        raise MisfitError(str(error)) from error
    return stated


def _json_text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise MisfitError(gojson.misfit(gojson.kind_of(value), "string"))


def as_is(value: Any) -> Any:
    """Any JSON value."""
    return value


def encoded(value: Any) -> str:
    """Bytes, in base64."""
    if isinstance(value, str):
        return value
    raise MisfitError(f"cannot restore slice from {kind_of(value)}")


_AS_JSON: Final[Mapping[str, Reader]] = {"q": quantity, "t": time, "j": as_is}
CONVERTER_SCALARS: Final[Mapping[str, Reader]] = {
    **_AS_JSON, "": text, "b": boolean, "i": integer(32), "l": integer(64), "f": number, "x": int_or_text, "v": version,
    "r": release, "n": encoded,
}  # fmt: skip
JSON_SCALARS: Final[Mapping[str, Reader]] = {
    **_AS_JSON, "": _json("string", "string"), "b": _json("bool", "bool"), "i": _json_integer(32),
    "l": _json_integer(64), "f": _json("number", "float64", number), **dict.fromkeys("xvrn", as_is),
}  # fmt: skip
