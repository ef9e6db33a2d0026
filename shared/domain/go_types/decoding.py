"""What encoding/json refuses of a value that should be of a type, in its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from shared.domain.go.float import json_text
from shared.domain.go.json import kind_of, misfit
from shared.domain.go.text import fold
from shared.domain.go_types.goscalars import MisfitError, Reader, quantity, time
from shared.domain.go_types.typetables import structs

_BITS: Final = {"i": 31, "l": 63}
_NAMES: Final = {
    "": "string", "b": "bool", "i": "int32", "l": "int64", "f": "float64", "j": "v1.JSON",
    "{d}": "v1.JSONSchemaDependencies",
}  # fmt: skip
_JSON: Final = {"": "string", "b": "bool", "i": "number", "l": "number", "f": "number"}
_SCHEMAS: Final = {"s": "JSONSchemaProps", "a": "JSONSchemaProps", "d": "JSONSchemaProps"}
"""Types that may be a schema, among other things."""
_LISTS: Final = {"a": "[JSONSchemaProps]", "d": "[]"}
"""What they are if they are lists."""
_READERS: Final[Mapping[str, Reader]] = {"q": quantity, "t": time}
NEITHER: Final = "boolean or JSON schema expected"
_READ_THEMSELVES: Final = frozenset({*"jxvrn", *_SCHEMAS})


def check_object(value: Mapping[str, Any], name: str, path: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """The object; MisfitError for the first field, by name, that does not hold what the type of that name wants."""
    fields = {fold(field.name): field for field in structs()[name]}
    for key in sorted(value):
        field = fields.get(fold(key))
        if field is not None:
            _check(value[key], field.type.removeprefix("*"), (name, *path, field.name))
    return value


def _check(value: Any, kind: str, path: tuple[str, ...]) -> None:
    """The path begins with the type of the object that the field is of."""
    if value is None:
        return
    if kind in _LISTS and isinstance(value, list):
        kind = _LISTS[kind]
    if kind.startswith("[") and isinstance(value, list):
        for item in value:
            _check(item, kind[1:-1], path)
    elif kind.startswith("{") and isinstance(value, Mapping):
        for key in sorted(value):
            _check(value[key], kind[1:-1], path)
    elif (kind in structs() or kind in _SCHEMAS) and isinstance(value, Mapping):
        check_object(value, _SCHEMAS.get(kind, kind), path[1:])
    elif kind == "s" and not isinstance(value, bool):
        raise MisfitError(NEITHER)
    elif kind in _READERS:
        _READERS[kind](value)
    else:
        _check_scalar(value, kind, path)


def _check_scalar(value: object, kind: str, path: tuple[str, ...]) -> None:
    if kind in _READ_THEMSELVES or kind_of(value) == _JSON.get(kind):
        _check_size(value, kind, path)
    else:
        raise _misfit(kind_of(value), _go_name(kind), path)


def _check_size(value: object, kind: str, path: tuple[str, ...]) -> None:
    if kind in _BITS and isinstance(value, int | float):
        # Numbers go through floating point on their way, so large ones are not exact any more.
        text = json_text(float(value))
        if not text.lstrip("-").isdigit() or not -(2 ** _BITS[kind]) <= int(text) < 2 ** _BITS[kind]:
            raise _misfit(f"number {text}", _NAMES[kind], path)


def _go_name(kind: str) -> str:
    """What Go calls a type."""
    if kind in _NAMES:
        return _NAMES[kind]
    if kind.startswith("["):
        return f"[]{_go_name(kind[1:-1])}"
    if kind.startswith("{"):
        return f"map[string]{_go_name(kind[1:-1])}"
    return f"v1.{kind}"


def _misfit(what: str, wanted: str, path: tuple[str, ...]) -> MisfitError:
    return MisfitError(misfit(what, wanted, ".".join(path)))
