"""What every document of a catalog has: a schema, and perhaps a package and a name (fbc.md §2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from shared.domain.go.json import kind_of, misfit
from shared.domain.go.text import as_opm_prints, quoted

_LIFTED: Final = ("schema", "package", "name")


@dataclass(frozen=True, slots=True)
class Meta:
    """One object of a catalog, as little understood as possible."""

    schema: str
    package: str
    name: str
    fields: Mapping[str, Any]  # why: any JSON values


def refusal(value: Any) -> str:  # why: any JSON value
    """Why a value is no object of a catalog, or an empty text. Nothing at all is one without a schema."""
    if value is None:
        return ""
    if value.__class__ is not dict:
        return misfit(kind_of(value), "map[string]interface {}")
    spellings = _spellings(value)
    if len(spellings) != len(value):
        return _repeated(value)
    for name in _LIFTED:
        key = spellings.get(name)
        if key is not None and value[key].__class__ is not str:
            return f"expected value for key {quoted(key)} to be a string, got {as_opm_prints(value[key])}"
    return ""


def _spellings(value: Mapping[str, Any]) -> dict[str, str]:
    return {key.casefold(): key for key in value}


def _repeated(value: Mapping[str, Any]) -> str:
    """The keys that are one key when their case is ignored."""
    groups: dict[str, list[str]] = {}
    for key in sorted(value):
        groups.setdefault(key.casefold(), []).append(key)
    why = [f"duplicate keys for key {quoted(key)}: [{' '.join(keys)}]" for key, keys in groups.items() if len(keys) > 1]
    return why[0] if len(why) == 1 else f"[{', '.join(why)}]"


def meta_of(value: Mapping[str, Any] | None) -> Meta:
    """The object that a value is; `refusal` has nothing against it."""
    if value is None:
        return Meta("", "", "", {})
    spellings = _spellings(value)
    schema, package, name = (value.get(spellings.get(key, key), "") for key in _LIFTED)
    return Meta(schema, package, name, value)
