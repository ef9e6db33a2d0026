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
    Value,
    Verdict,
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


def defects(value: Value, schema: ReadOnly) -> tuple[Defect, ...]:
    """All that is wrong with an object; fields in the order of their names."""
    return tuple(_judged(value, schema, "").defects)


def _judged(value: Value, schema: ReadOnly, path: str) -> Verdict:
    form = _format(schema)
    if isinstance(value, int) and not isinstance(value, bool) and value not in _INT64:
        value = float(value)
    verdict = _typed(value, schema, path, form)
    if value is None:
        verdict.add(_listed(value, schema, path))
        return verdict
    verdict.add(_combined(value, schema, path))
    match value:
        case str():
            verdict.add(Verdict(*text_defects(value, schema, path, form), matches=1 + (form in FORMATS)))
        case bool():
            pass
        case int() | float():
            verdict.add(Verdict(*number_defects(value, schema, path, form), matches=2))
        case list():
            verdict.add(_items(value, schema, path))
    verdict.add(_listed(value, schema, path))
    if isinstance(value, dict):
        verdict.add(_fields(value, schema, path))
    verdict.matches += 2
    return verdict


def _types(schema: ReadOnly) -> tuple[str, ...]:
    if schema.get("x-kubernetes-int-or-string"):
        return ("integer", "string")
    return tuple(filter(None, (schema.get("type"),)))


def _format(schema: ReadOnly) -> str:
    """The format, unless it is unknown for the type and means nothing."""
    form, kind = str(schema.get("format") or ""), str(schema.get("type") or "")
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


def _typed(value: Value, schema: ReadOnly, path: str, form: str) -> Verdict:
    types = _types(schema)
    if not types and not form:
        return Verdict()
    if value is None:
        is_refused = bool(types) and not schema.get("nullable")
        return Verdict(wrong_type(path, ",".join(types), "null")) if is_refused else Verdict(matches=1)
    found = _type_of(value)
    fits = found in types or ("integer" in types and is_whole(value)) or ("number" in types and found == "integer")
    if form and found not in ("string", "array") and not fits:
        return Verdict(wrong_type(path, form, {"integer": "int64", "number": "float64"}.get(found, "")), matches=1)
    if not fits and not (form and found in ("string", "array") and _NUMBERS.keys().isdisjoint(types)):
        return Verdict(wrong_type(path, ",".join(types), found), matches=1)
    return Verdict(matches=2)


def _listed(value: Value, schema: ReadOnly, path: str) -> Verdict:
    allowed = schema.get("enum")
    matches = int(value is not None)
    if not allowed or (value is not None and raw(value) in map(raw, allowed)):
        return Verdict(matches=matches)
    return Verdict(unsupported(path, value, allowed), matches=matches)


def _items(value: list[Value], schema: ReadOnly, path: str) -> Verdict:
    verdict = Verdict(matches=2)
    inner = schema.get("items")
    if isinstance(inner, Mapping):
        for index, item in enumerate(value):
            verdict.add(_judged(item, inner, f"{path}[{index}]"))
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        why = f"{path} in body should have at least {int(least)} items"
        verdict.add(Verdict(invalid(path, why, len(value))))
    if most is not None and len(value) > most:
        verdict.add(Verdict(too_many(path, len(value), int(most))))
    if schema.get("uniqueItems") and len(set(map(raw, value))) < len(value):
        verdict.add(Verdict(invalid(path, f"{path} in body shouldn't contain duplicates")))
    return verdict


def _fields(value: dict[str, Value], schema: ReadOnly, path: str) -> Verdict:
    verdict = Verdict(*_sizes(value, schema, path), matches=1)
    properties = schema.get("properties") or {}
    others = schema.get("additionalProperties")
    for name in sorted(value.keys() - properties.keys()):
        if others is False:
            verdict.add(Verdict(invalid(path, f"{path}.{name} in body is a forbidden property", name)))
        elif isinstance(others, Mapping):
            verdict.add(_judged(value[name], others, f"{path}.{name}"))
    for name in sorted(value.keys() & properties.keys()):
        verdict.add(_judged(value[name], properties[name] or {}, f"{path}.{name}" if path else name))
    absent = (name for name in schema.get("required") or () if name not in value)
    verdict.add(Verdict(*(missing(f"{path}.{name}") for name in absent)))
    return verdict


def _sizes(value: Mapping[str, Value], schema: ReadOnly, path: str) -> Iterator[Defect]:
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least is not None and len(value) < least:
        yield invalid(path, f"{path} in body should have at least {int(least)} properties", len(value))
    if most is not None and len(value) > most:
        yield too_many(path, len(value), int(most))


def _combined(value: Value, schema: ReadOnly, path: str) -> Verdict:
    """What schemas say that hold together, or of which one holds."""
    verdict = Verdict(matches=2)
    if schema.get("anyOf"):
        _any(value, schema["anyOf"], path, verdict)
    if schema.get("oneOf"):
        _one(value, schema["oneOf"], path, verdict)
    if schema.get("allOf"):
        _all(value, schema["allOf"], path, verdict)
    if isinstance(schema.get("not"), Mapping) and _judged(value, schema["not"], path).is_valid:
        verdict.add(Verdict(composite(path, "must not validate the schema (not)")))
    return verdict


def _any(value: Value, schemas: list[Any], path: str, verdict: Verdict) -> None:
    judged = []
    for schema in schemas:
        judged.append(_judged(value, schema or {}, path))
        if judged[-1].is_valid:
            verdict.add(judged[-1])
            return
    verdict.add(Verdict(composite(path, "must validate at least one schema (anyOf)")), _closest(judged))


def _one(value: Value, schemas: list[Any], path: str, verdict: Verdict) -> None:
    judged = [_judged(value, schema or {}, path) for schema in schemas]
    valid = [one for one in judged if one.is_valid]
    if len(valid) == 1:
        verdict.add(valid[0])
        return
    found = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
    verdict.add(Verdict(composite(path, f"must validate one and only one schema (oneOf). {found}")))
    if not valid:
        verdict.add(_closest(judged))


def _all(value: Value, schemas: list[Any], path: str, verdict: Verdict) -> None:
    judged = [_judged(value, schema or {}, path) for schema in schemas]
    verdict.add(*judged)
    count = sum(one.is_valid for one in judged)
    if count < len(judged):
        suffix = "" if count else ". None validated"
        verdict.add(Verdict(composite(path, f"must validate all the schemas (allOf){suffix}")))


def _closest(judged: list[Verdict]) -> Verdict:
    """The alternative that fits most; the first of several."""
    return max(judged, key=lambda one: one.matches)
