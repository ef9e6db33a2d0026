"""JSON values as Go's types hold them: known fields in their order, empty ones left out, wrong types refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from shared.api.manifest import Manifest
from shared.domain.go.encode import ordered
from shared.domain.go_types.csvtypes import CSV_TYPES
from shared.domain.go_types.podtypes import POD_TYPES
from shared.domain.go_types.quantity import NotAQuantity, canonical
from shared.domain.semver.version import InvalidVersion, parse_tolerant, prerelease_of

_SCALARS: Final = {"": "text", "b": "boolean", "i": "integer", "l": "integer"}
_BITS: Final = {"i": 31, "l": 63}
_ZERO: Final = {"": "", "b": False, "i": 0, "l": 0, "q": "0", "x": 0}
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)")
_ALWAYS: Final = ("q", "x")
"""Types that are never empty to Go: such a field is always written, unless it may be absent."""
_NEVER_NULL: Final = ("v", "r")
"""Types that read null as an empty text, which is not a valid value."""


class MistypedError(ValueError):
    """A value is not of the type of its field; the message names the field by its path."""


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    type: str
    is_required: bool


@cache
def _structs() -> Mapping[str, tuple[_Field, ...]]:
    """The tables, read."""
    found: dict[str, tuple[_Field, ...]] = {}
    for paragraph in filter(None, (POD_TYPES + CSV_TYPES).replace("\n  ", " ").splitlines()):
        name, *words = paragraph.split()
        found[name] = tuple(map(_field, words))
    return found


def _field(word: str) -> _Field:
    named, _, kind = word.partition(":")
    return _Field(named.removesuffix("!"), kind, named.endswith("!"))


@cache
def _folded(name: str) -> Mapping[str, _Field]:
    return {field.name.casefold(): field for field in _structs()[name]}


def arranged(value: object, name: str, path: str = "") -> Manifest:
    """What Go writes after it has read an object into the struct `name`. MistypedError for a value of another type."""
    if value is None:
        value = {}
    if not isinstance(value, Mapping):
        raise MistypedError(f"{path or name}: wanted an object, got {what_is(value)}")
    given = _given(value, name, path)
    written: Manifest = {}
    for field in _structs()[name]:
        found = given.get(field.name)
        if found is None and field.type in _structs():
            found = arranged(None, field.type)
        if found is None and (field.is_required or field.type in _ALWAYS):
            found = _zero(field)
        if field.is_required or (field.type == "j" and field.name in given) or not _is_empty(found, field):
            written[field.name] = found
    return written


def _given(value: Mapping[str, Any], name: str, path: str) -> Manifest:
    """What an object states, by field; names are the same in upper and lower case, the exact one counts most.

    Null takes back what another spelling of the name states, except of texts, numbers and objects.
    """
    fields = {field.name: field for field in _structs()[name]}
    stated: Manifest = {}
    for key in sorted(value, key=lambda key: (key in fields, key)):
        field = fields.get(key) or _folded(name).get(key.casefold())
        if field is not None:
            read = _read(value[key], field.type, f"{path}.{key}".lstrip("."))
            if read is not None or field.type.startswith(("*", "j", "[", "{")):
                stated[field.name] = read
    return stated


def _zero(field: _Field) -> Any:
    return _ZERO.get(field.type, "0.0.0" if field.type == "v" else None)


def _is_empty(value: object, field: _Field) -> bool:
    if field.type.startswith("*"):
        return value is None
    return value in (None, "", False, [], {}) and field.type not in _structs() and field.type not in _ALWAYS


def _read(value: object, kind: str, path: str) -> Any:  # why: any JSON value
    """A value as its type; None stands for the empty value of any type."""
    if value is None and kind not in _NEVER_NULL:
        return None
    kind = kind.removeprefix("*")
    if kind.startswith("["):
        return _list(value, kind[1:-1], path)
    if kind.startswith("{"):
        return _map(value, kind[1:-1], path)
    if kind in _structs():
        return arranged(value, kind, path)
    return _READERS[kind](value, path) if kind in _READERS else _scalar(value, kind, path)


def _list(value: object, kind: str, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise MistypedError(f"{path}: wanted a list, got {what_is(value)}")
    return [_item(item, kind, f"{path}[{number}]") for number, item in enumerate(value)]


def _map(value: object, kind: str, path: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise MistypedError(f"{path}: wanted an object, got {what_is(value)}")
    return {key: _item(value[key], kind, f"{path}.{key}") for key in sorted(value)}


def _item(value: object, kind: str, path: str) -> Any:
    found = arranged(value, kind, path) if kind in _structs() else _read(value, kind, path)
    return _ZERO.get(kind) if found is None else found


def _scalar(value: object, kind: str, path: str) -> object:
    if kind == "" and isinstance(value, str):
        return value
    if kind == "b" and isinstance(value, bool):
        return value
    if kind in _BITS and isinstance(value, int) and not isinstance(value, bool):
        if -(2 ** _BITS[kind]) <= value < 2 ** _BITS[kind]:
            return value
        raise MistypedError(f"{path}: {value} does not fit into {_BITS[kind] + 1} bits")
    raise MistypedError(f"{path}: wanted {_SCALARS[kind]}, got {what_is(value)}")


def _quantity(value: object, path: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise MistypedError(f"{path}: wanted a quantity, got {what_is(value)}")
    try:
        return canonical(str(value).strip())
    except NotAQuantity as error:
        raise MistypedError(f"{path}: {error}") from error


def _time(value: object, path: str) -> str:
    if not _TIME.fullmatch(str(value)):
        raise MistypedError(f"{path}: {value!r} is no time")
    try:
        return datetime.fromisoformat(str(value)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError) as error:
        raise MistypedError(f"{path}: {value!r} is no time") from error


def _int_or_text(value: object, path: str) -> object:
    return value if isinstance(value, str) else _scalar(value, "i", path)


def _version(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise MistypedError(f"{path}: wanted text, got {what_is(value)}")
    try:
        return str(parse_tolerant(value))
    except InvalidVersion as error:
        raise MistypedError(f"{path}: {value!r} is no version: {error}") from error


def _release(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise MistypedError(f"{path}: wanted text, got {what_is(value)}")
    try:
        prerelease_of(value)
    except InvalidVersion as error:
        raise MistypedError(f"{path}: {value!r} is no release: {error}") from error
    return value


def _any(value: object, _: str) -> object:
    return ordered(value)


_READERS: Final[Mapping[str, Callable[[object, str], object]]] = {
    "q": _quantity, "t": _time, "x": _int_or_text, "v": _version, "r": _release, "j": _any,
}  # fmt: skip


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
