"""A valid `deploymentConfig` as Go's types hold it once it was decoded from JSON (v1.md §17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.api.manifest import Manifest
from shared.domain.extension.render.goscalars import MisfitError, quantity
from shared.domain.extension.render.gotypes import converted, structs
from shared.domain.gofloat import json_text
from shared.domain.gotext import fold

_CONFIG = "SubscriptionConfig"
_LIMITS = {"i": (31, "int32"), "l": (63, "int64")}


class ConfigMisfitError(ValueError):
    """A value does not fit into its field; the message is the one of Go."""


def deployment_config(stated: Mapping[str, Any]) -> Manifest:
    """The configuration with the fields that Go knows. ConfigMisfitError for what only Go refuses."""
    return converted(_struct(stated, _CONFIG, ()), _CONFIG)


def _struct(stated: Mapping[str, Any], name: str, path: tuple[str, ...]) -> Manifest:
    """The fields under the names that Go gives them; names are the same in upper and lower case."""
    fields = {field.name: field for field in structs()[name]}
    folded = {fold(field): field for field in fields}
    found: Manifest = {}
    for key in sorted(stated):
        known = key if key in fields else folded.get(fold(key))
        if known is not None:
            found[known] = _value(stated[key], fields[known].type, (name, *path, known))
    return found


def _value(value: Any, kind: str, path: tuple[str, ...]) -> Any:
    kind = kind.removeprefix("*")
    if kind.startswith("[") and isinstance(value, list):
        return [_value(item, kind[1:-1], path) for item in value]
    if kind.startswith("{") and isinstance(value, Mapping):
        return {key: _value(value[key], kind[1:-1], path) for key in sorted(value)}
    if kind in structs() and isinstance(value, Mapping):
        return _struct(value, kind, path[1:])
    if kind in _LIMITS and isinstance(value, int | float):
        return _integer(value, kind, path)
    if kind == "q" and value is not None:
        try:
            return quantity(value)
        except MisfitError as error:
            raise ConfigMisfitError(str(error)) from error
    return value


def _integer(value: float, kind: str, path: tuple[str, ...]) -> int:
    bits, name = _LIMITS[kind]
    # Numbers went through floating point on their way, so large ones are not exact any more.
    text = json_text(float(value))
    if not text.lstrip("-").isdigit() or not -(2**bits) <= int(text) < 2**bits:
        where = f"{path[0]}.{'.'.join(path[1:])}"
        raise ConfigMisfitError(f"json: cannot unmarshal number {text} into Go struct field {where} of type {name}")
    return int(text)
