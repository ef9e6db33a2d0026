"""What may be configured about a bundle, as a schema (v1.md §17)."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from shared.domain.extension.render.model import ALL, OWN, SINGLE
from shared.domain.extension.render.schema import Schema
from shared.domain.go_types.typetables import Field, structs

WATCH_NAMESPACE: Final = "watchNamespace"
DEPLOYMENT_CONFIG: Final = "deploymentConfig"
OWN_FORMAT: Final = "ownNamespaceInstallMode"
SINGLE_FORMAT: Final = "singleNamespaceInstallMode"

_NAMESPACE: Final[Schema] = {
    "type": "string", "minLength": 1, "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
}  # fmt: skip
_CONFIG: Final = "SubscriptionConfig"
_SCALARS: Final[dict[str, Schema]] = {
    "": {"type": "string"}, "b": {"type": "boolean"}, "i": {"type": "integer"}, "l": {"type": "integer"},
}  # fmt: skip
_SPECIAL: Final[dict[str, Schema]] = {
    "q": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    "t": {"type": "string", "format": "date-time"},
    "j": {"type": "object"},
}
_OPTIONAL: Final = frozenset({
    ("ProjectedVolumeSource", "sources"), ("TypedLocalObjectReference", "apiGroup"),
    ("TypedObjectReference", "apiGroup"),
})  # fmt: skip
"""Written in any case, but nobody need state them."""
_NEEDED: Final = frozenset({("PodCertificateProjection", "signerName"), ("PodCertificateProjection", "keyType")})
"""Must be stated, but are not written when empty."""


def schema_of(modes: frozenset[str], *, has_deployment_config: bool) -> Schema:
    """The schema for a bundle that supports these install modes."""
    properties: dict[str, Schema] = {}
    required = []
    if has_deployment_config:
        properties[DEPLOYMENT_CONFIG] = _deployment_config()
    if modes & {SINGLE, OWN}:
        namespace = {**_NAMESPACE, **_format_of(modes)}
        is_required = ALL not in modes
        properties[WATCH_NAMESPACE] = namespace if is_required else {"anyOf": [{"type": "null"}, namespace]}
        required = [WATCH_NAMESPACE] if is_required else []
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _format_of(modes: frozenset[str]) -> dict[str, str]:
    match OWN in modes, SINGLE in modes:
        case True, False:
            return {"format": OWN_FORMAT}
        case False, True:
            return {"format": SINGLE_FORMAT}
    return {}


@cache
def _deployment_config() -> Schema:
    properties = {field.name: _direct(field.type) for field in structs("1.36")[_CONFIG].fields.values()}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _direct(kind: str) -> Schema:
    """The fields of the configuration itself refer to types without a detour."""
    kind = kind.removeprefix("*")
    if kind.startswith("["):
        return {"type": "array", "items": _reference(kind[1:-1])}
    return _field_schema(kind) if kind.startswith("{") else _reference(kind)


def _reference(kind: str) -> Schema:
    return {"$ref": kind}


@cache
def definition(name: str) -> Schema:
    """The schema of a type."""
    if name in _SPECIAL:
        return _SPECIAL[name]
    fields = structs("1.36")[name].fields.values()
    return {
        "type": "object",
        "properties": {field.name: _field_schema(field.type) for field in fields},
        "required": [field.name for field in fields if _is_needed(name, field)],
    }


def _is_needed(name: str, field: Field) -> bool:
    place = name, field.name
    return place in _NEEDED or (field.is_required and place not in _OPTIONAL)


def _field_schema(kind: str) -> dict[str, Any]:
    kind = kind.removeprefix("*")
    if kind.startswith("["):
        return {"type": "array", "items": _field_schema(kind[1:-1])}
    if kind.startswith("{"):
        inner = kind[1:-1]
        return {"type": "object", "additionalProperties": _reference(inner) if inner == "q" else _field_schema(inner)}
    return dict(_SCALARS[kind]) if kind in _SCALARS else {"allOf": [_reference(kind)]}
