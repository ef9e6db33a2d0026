"""Single values as Go reads them, with the words of its refusals: of encoding/json, and of Kubernetes' converter."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from shared.domain.go import json as gojson
from shared.domain.go.float import json_text
from shared.domain.go.text import quoted
from shared.domain.go_types.engine import MisfitError, Reader
from shared.domain.go_types.quantity import NotAQuantity, canonical
from shared.domain.semver.version import InvalidVersion, parse_tolerant, prerelease_of

Refusal: TypeAlias = Callable[[Any], MisfitError]

_SUFFIX: Final = re.compile(r"[+-]?[0-9]*(?:\.[0-9]*)?[eEinumkKMGTP]*[-+]?[0-9]*")
_NO_QUANTITY: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_TIME: Final = (
    ("2006", "[0-9]{4}"), ("-", "-"), ("01", "[0-9]{2}"), ("-", "-"), ("02", "[0-9]{2}"), ("T", "T"),
    ("15", "[0-9]{1,2}"), (":", ":"), ("04", "[0-9]{2}"), (":", ":"), ("05", r"[0-9]{2}(?:[.,][0-9]+)?"),
    ("Z07:00", "Z|[-+][0-9]{2}:[0-9]{2}"),
)  # fmt: skip
"""How Go writes the parts of a time in its layouts, and what they look like."""
_INT64: Final = range(-(2**63), 2**63)
_INT32: Final = range(-(2**31), 2**31)
_KINDS: Final = {bool: "bool", int: "int64", float: "float64", str: "string", list: "slice"}


def kind_of(value: object) -> str:
    """What the converter calls a decoded JSON value."""
    return "float64" if type(value) is int and value not in _INT64 else _KINDS.get(type(value), "map")


def checked(types: tuple[type, ...], refusal: Refusal, made: Reader | None = None) -> Reader:
    """The reader of values of these types, or of what is made of them."""

    def read(value: Any) -> Any:
        if value.__class__ not in types:
            raise refusal(value)
        return value if made is None else made(value)

    return read


def misfit(desired: str) -> Refusal:
    """The refusal of encoding/json, which names the field: a value is not of the type that Go calls so."""
    return lambda value: _misfit(gojson.kind_of(value), desired)


def _misfit(found: str, desired: str) -> MisfitError:
    return MisfitError(lambda place: gojson.misfit(found, desired, place))


def _alone(desired: str) -> Refusal:
    """The same of a value that is read by itself."""
    return lambda value: MisfitError(gojson.misfit(gojson.kind_of(value), desired))


def _unrecognized(desired: str) -> Refusal:
    return lambda _: MisfitError(f"unrecognized type: {desired}")


def _no_text(value: Any) -> MisfitError:
    """The place is the name of the type of the text."""
    is_integer = kind_of(value) == "int64"
    return MisfitError(
        (lambda place: f"cannot convert int64 to {place}") if is_integer else "unrecognized type: string"
    )


def _no_bytes(value: Any) -> MisfitError:
    return MisfitError(f"cannot restore slice from {kind_of(value)}")


def _fitting(bits: int) -> Reader:
    half: int = 2 ** (bits - 1)

    def made(value: Any) -> int:
        # Numbers go through floating point on their way, so large ones are not exact any more.
        written = json_text(float(value))
        if not written.lstrip("-").isdigit() or not -half <= int(written) < half:
            raise _misfit(f"number {written}", f"int{bits}")
        return int(value)

    return made


def _wrapped(bits: int) -> Reader:
    """Integers lose what does not fit."""
    half: int = 2 ** (bits - 1)

    def made(value: Any) -> int:
        if isinstance(value, float) and not value.is_integer():
            raise MisfitError(f"cannot convert float64 to int{bits}")
        return (int(value) + half) % (2 * half) - half

    return made


def _number(value: Any) -> int | float:
    """Whole numbers without a point."""
    written = json_text(float(value))
    return float(written) if set(written) & set(".eE") else int(written)


def _quantity(value: Any) -> str:
    text = value.strip() if isinstance(value, str) else _written(value)
    try:
        return canonical(text)
    except NotAQuantity as error:
        is_suffix = text and _SUFFIX.fullmatch(text)
        raise MisfitError("unable to parse quantity's suffix" if is_suffix else _NO_QUANTITY) from error


def _written(number: float) -> str:
    return str(number) if isinstance(number, int) else json_text(number)


def _int_or_text(value: Any) -> int | str:
    if isinstance(value, str) or (isinstance(value, int) and value in _INT32):
        return value
    raise MisfitError(gojson.misfit(f"number {_written(value)}", "int32"))


def _time(value: Any) -> str:
    """In UTC, without fractions of a second."""
    why = _time_problem(value)
    try:
        if not why:
            return datetime.fromisoformat(value).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError):  # in UTC, the year may be 0 or 10000
        why = ": day out of range"
    raise MisfitError(f"parsing time {quoted(value)}{why}")


def _time_problem(text: str) -> str:
    rest = text
    for layout, pattern in _TIME:
        match = re.match(pattern, rest)
        if match is None:
            return f' as "2006-01-02T15:04:05Z07:00": cannot parse {quoted(rest)} as {quoted(layout)}'
        rest = rest[match.end() :]
    return f": extra text: {quoted(rest)}" if rest else ""


def version(value: str) -> str:
    """The text of a version. InvalidVersion."""
    return str(parse_tolerant(value))


def release(value: str) -> str:
    """The text of a release. InvalidVersion."""
    prerelease_of(value)
    return value


def _valid(made: Callable[[str], str]) -> Reader:
    def read(value: Any) -> str:
        try:
            return made(value)
        except InvalidVersion as error:
            raise MisfitError(str(error)) from error

    return checked((str,), _alone("string"), read)


def _as_is(value: Any) -> Any:
    return value


NUMBER: Final = (int, float)
_COMMON: Final[Mapping[str, Reader]] = {
    "q": checked((str, *NUMBER), lambda _: MisfitError(_NO_QUANTITY), _quantity), "j": _as_is,
    "t": checked((str,), _alone("string"), _time),
}  # fmt: skip
CONVERTER_SCALARS: Final[Mapping[str, Reader]] = {
    **_COMMON, "": checked((str,), _no_text), "b": checked((bool,), _unrecognized("bool")),
    "i": checked(NUMBER, _unrecognized("int32"), _wrapped(32)),
    "l": checked(NUMBER, _unrecognized("int64"), _wrapped(64)), "f": checked(NUMBER, _unrecognized("float64"), _number),
    "x": checked((str, *NUMBER), _alone("int32"), _int_or_text), "v": _valid(version), "r": _valid(release),
    "n": checked((str,), _no_bytes),
}  # fmt: skip
JSON_SCALARS: Final[Mapping[str, Reader]] = {
    **_COMMON, "": checked((str,), misfit("string")), "b": checked((bool,), misfit("bool")),
    "i": checked(NUMBER, misfit("int32"), _fitting(32)), "l": checked(NUMBER, misfit("int64"), _fitting(64)),
    "f": checked(NUMBER, misfit("float64"), _number), **dict.fromkeys("xvrn", _as_is),
}  # fmt: skip
