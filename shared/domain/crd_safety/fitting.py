"""Whether an object fits a schema: every defect, as the API server finds and words it.

Nothing is defaulted, dropped or computed before: the object is taken as it is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from shared.api.manifest import ReadOnly
from shared.domain.crd_safety.canonical import raw
from shared.domain.crd_safety.defects import (
    Defect,
    SchemaResult,
    Value,
    composite,
    invalid,
    missing,
    too_many,
    unsupported,
    wrong_type,
)
from shared.domain.crd_safety.formats import FORMATS
from shared.domain.crd_safety.scalars import is_whole, number_defects, text_defects

_NUMBERS: Final = {"integer": ("int32", "int64"), "number": ("float", "double")}
_INT64: Final = range(-(2**63), 2**63)
_COMBINING: Final = frozenset({"anyOf", "oneOf", "allOf", "not"})


def defects(value: Value, schema: ReadOnly) -> tuple[Defect, ...]:
    """All that is wrong with an object; fields in the order of their names."""
    return tuple(_judged(value, schema, "").defects)


def _judged(value: Value, schema: ReadOnly, path: str) -> SchemaResult:
    form = _format(schema)
    if isinstance(value, int) and not isinstance(value, bool) and value not in _INT64:
        value = float(value)
    result = _typed(value, schema, path, form)
    if value is None:
        _listed(value, schema, path, result)
        return result
    result.matches += 4
    if not _COMBINING.isdisjoint(schema):
        _combined(value, schema, path, result)
    if isinstance(value, str):
        result.note(*text_defects(value, schema, path, form))
        result.matches += 1 + (form in FORMATS)
    elif isinstance(value, list):
        _items(value, schema, path, result)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        result.note(*number_defects(value, schema, path, form))
        result.matches += 2
    _listed(value, schema, path, result)
    if isinstance(value, dict):
        _fields(value, schema, path, result)
    return result


def _types(schema: ReadOnly) -> tuple[str, ...]:
    if schema.get("x-kubernetes-int-or-string"):
        return ("integer", "string")
    kind = schema.get("type")
    return (kind,) if kind else ()


def _format(schema: ReadOnly) -> str:
    """The format, unless it is unknown for the type and means nothing."""
    form = str(schema.get("format") or "")
    if not form:
        return ""
    kind = str(schema.get("type") or "")
    if schema.get("x-kubernetes-int-or-string") or kind in ("", "string"):
        return form if form in FORMATS else ""
    return form if form in _NUMBERS.get(kind, ()) else ""


def _type_of(value: Value) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
    return "array" if isinstance(value, list) else "object"


def _typed(value: Value, schema: ReadOnly, path: str, form: str) -> SchemaResult:
    types = _types(schema)
    if not types and not form:
        return SchemaResult()
    if value is None:
        is_refused = bool(types) and not schema.get("nullable")
        return SchemaResult(wrong_type(path, ",".join(types), "null")) if is_refused else SchemaResult(matches=1)
    found = _type_of(value)
    fits = found in types or ("integer" in types and is_whole(value)) or ("number" in types and found == "integer")
    if form and found not in ("string", "array") and not fits:
        return SchemaResult(wrong_type(path, form, {"integer": "int64", "number": "float64"}.get(found, "")), matches=1)
    if not fits and not (form and found in ("string", "array") and _NUMBERS.keys().isdisjoint(types)):
        return SchemaResult(wrong_type(path, ",".join(types), found), matches=1)
    return SchemaResult(matches=2)


def _listed(value: Value, schema: ReadOnly, path: str, result: SchemaResult) -> None:
    allowed = schema.get("enum")
    result.matches += value is not None
    if allowed and (value is None or raw(value) not in map(raw, allowed)):
        result.note(unsupported(path, value, allowed))


def _items(value: list[Value], schema: ReadOnly, path: str, result: SchemaResult) -> None:
    result.matches += 2
    inner = schema.get("items")
    if isinstance(inner, Mapping):
        for index, item in enumerate(value):
            result.add(_judged(item, inner, f"{path}[{index}]"))
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        result.note(invalid(path, f"{path} in body should have at least {int(least)} items", len(value)))
    if most is not None and len(value) > most:
        result.note(too_many(path, len(value), int(most)))
    if schema.get("uniqueItems") and len(set(map(raw, value))) < len(value):
        result.note(invalid(path, f"{path} in body shouldn't contain duplicates"))


def _fields(value: dict[str, Value], schema: ReadOnly, path: str, result: SchemaResult) -> None:
    result.matches += 1
    result.note(*_sizes(value, schema, path))
    properties = schema.get("properties") or {}
    others = schema.get("additionalProperties")
    for name in sorted(value.keys() - properties.keys()):
        if others is False:
            result.note(invalid(path, f"{path}.{name} in body is a forbidden property", name))
        elif isinstance(others, Mapping):
            result.add(_judged(value[name], others, f"{path}.{name}"))
    for name in sorted(value.keys() & properties.keys()):
        result.add(_judged(value[name], properties[name] or {}, f"{path}.{name}" if path else name))
    for name in schema.get("required") or ():
        if name not in value:
            result.note(missing(f"{path}.{name}"))


def _sizes(value: Mapping[str, Value], schema: ReadOnly, path: str) -> Iterator[Defect]:
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least is not None and len(value) < least:
        yield invalid(path, f"{path} in body should have at least {int(least)} properties", len(value))
    if most is not None and len(value) > most:
        yield too_many(path, len(value), int(most))


def _combined(value: Value, schema: ReadOnly, path: str, result: SchemaResult) -> None:
    """What schemas say that hold together, or of which one holds."""
    if schema.get("anyOf"):
        _any(value, schema["anyOf"], path, result)
    if schema.get("oneOf"):
        _one(value, schema["oneOf"], path, result)
    if schema.get("allOf"):
        _all(value, schema["allOf"], path, result)
    if isinstance(schema.get("not"), Mapping) and _judged(value, schema["not"], path).is_valid:
        result.note(composite(path, "must not validate the schema (not)"))


def _any(value: Value, schemas: list[Any], path: str, result: SchemaResult) -> None:
    judged = []
    for schema in schemas:
        judged.append(_judged(value, schema or {}, path))
        if judged[-1].is_valid:
            result.add(judged[-1])
            return
    result.note(composite(path, "must validate at least one schema (anyOf)"))
    result.add(_closest(judged))


def _one(value: Value, schemas: list[Any], path: str, result: SchemaResult) -> None:
    judged = [_judged(value, schema or {}, path) for schema in schemas]
    valid = [one for one in judged if one.is_valid]
    if len(valid) == 1:
        result.add(valid[0])
        return
    found = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
    result.note(composite(path, f"must validate one and only one schema (oneOf). {found}"))
    if not valid:
        result.add(_closest(judged))


def _all(value: Value, schemas: list[Any], path: str, result: SchemaResult) -> None:
    judged = [_judged(value, schema or {}, path) for schema in schemas]
    result.add(*judged)
    count = sum(one.is_valid for one in judged)
    if count < len(judged):
        suffix = "" if count else ". None validated"
        result.note(composite(path, f"must validate all the schemas (allOf){suffix}"))


def _closest(judged: list[SchemaResult]) -> SchemaResult:
    """The alternative that fits most; the first of several."""
    return max(judged, key=lambda one: one.matches)
