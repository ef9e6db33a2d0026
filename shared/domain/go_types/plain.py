"""Objects as OLM reads them with Kubernetes 1.35, refused in words of ours that name the place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

from shared.domain.go.encode import ordered
from shared.domain.go.text import from_base64
from shared.domain.go_types.engine import Dialect, MisfitError, Reader, Step, declared, exact_last
from shared.domain.go_types.quantity import NotAQuantity, canonical
from shared.domain.go_types.scalars import NUMBER, Refusal, checked, release, version
from shared.domain.go_types.typetables import structs
from shared.domain.semver.version import InvalidVersion

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)")


def what_is(value: object) -> str:
    """What a value is, in one word or two."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
    return "an object"


def _wrong(problem: str) -> MisfitError:
    return MisfitError(lambda place: f"{place}: {problem}")


def _desired(what: str) -> Refusal:
    return lambda value: _wrong(f"wanted {what}, got {what_is(value)}")


def _no_object(value: Any, kind: str) -> NoReturn:
    raise _desired("a list" if kind.startswith("[") else "an object")(value)


def _no_time(value: str) -> MisfitError:
    return _wrong(f"{value!r} is no time")


def _place(steps: Sequence[Step], name: str, path: str) -> str:
    """The keys from the whole object to the value: `spec.containers[0].image`; the type for the object itself."""
    for step in steps[::-1]:
        match step:
            case int():
                path += f"[{step}]"
            case str():
                path += f".{step}"
            case _:
                path = f"{path}.{step[1]}".lstrip(".")
    return path or name


def _integer(bits: int) -> Reader:
    refusal = _desired("integer")

    def made(value: Any) -> int:
        if value != int(value):
            raise refusal(value)
        if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            return int(value)
        raise _wrong(f"{value} does not fit into {bits} bits")

    return checked(NUMBER, refusal, made)


def _int_or_text(value: Any) -> int | str:
    return value if isinstance(value, str) else _INT32(value)


def _quantity(value: Any) -> str:
    try:
        return canonical(str(value).strip())
    except NotAQuantity as error:
        raise _wrong(str(error)) from error


def _time(value: Any) -> str:
    if not _TIME.fullmatch(value):
        raise _no_time(value)
    try:
        return datetime.fromisoformat(value).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError) as error:
        raise _no_time(value) from error


def _base64(value: str) -> str:
    try:
        from_base64(value)
    except ValueError as error:
        raise _wrong(str(error)) from error
    return value


def _valid(made: Callable[[str], str]) -> Reader:
    def read(value: Any) -> str:
        try:
            return made(value)
        except InvalidVersion as error:
            raise _wrong(f"{value!r} is no {made.__name__}: {error}") from error

    return checked((str,), _desired("text"), read)


_INT32: Final = _integer(32)
_SCALARS: Final[Mapping[str, Reader]] = {
    "": checked((str,), _desired("text")), "b": checked((bool,), _desired("boolean")), "i": _INT32, "l": _integer(64),
    "q": checked((str, *NUMBER), _desired("a quantity"), _quantity), "t": checked((str,), _desired("a time"), _time),
    "x": _int_or_text, "v": _valid(version), "r": _valid(release), "j": ordered,
}  # fmt: skip
_NULLS: Final = frozenset("jrv")
"""Null is no version and no release, and a JSON value like any other."""
PLAIN: Final = Dialect(structs("1.35"), _SCALARS, _no_object, exact_last, True, _place, nulls=_NULLS)
_BYTES: Final = checked((str,), _desired("text"), _base64)
_MORE: Final[Mapping[str, Reader]] = {**_SCALARS, "f": checked(NUMBER, _desired("a number")), "n": _BYTES}
EXACT: Final = Dialect(structs("1.36"), _MORE, _no_object, declared, False, _place, nulls=_NULLS)
"""As `opm` reads definitions, and validates versions: the names of fields have one spelling."""
