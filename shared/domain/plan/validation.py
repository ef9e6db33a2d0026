"""Whether existing custom resources still fit a new CustomResourceDefinition (catalog.md §4.8)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jsonschema import Draft4Validator
from jsonschema.exceptions import ValidationError

from shared.api.manifest import Manifest, ReadOnly, name_of, namespace_of
from shared.kinds import Kind


def to_check(old: ReadOnly, new: ReadOnly) -> tuple[Kind, ...]:
    """The versions whose objects have to be looked at: served by both definitions, with another schema."""
    before, after = _served(old), _served(new)
    spec = new.get("spec") or {}
    words = spec.get("names") or {}
    return tuple(
        Kind(
            f"{spec.get('group')}/{version}",
            str(words.get("kind")),
            str(words.get("plural")),
            is_namespaced=spec.get("scope") != "Cluster",
        )
        for version in after
        if version in before and before[version] != after[version]
    )


def violation(new: ReadOnly, kind: Kind, objects: Iterable[ReadOnly]) -> str:
    """The sentence about the first object that the new schema refuses; empty when all fit."""
    validator = Draft4Validator(_as_json_schema(_served(new).get(kind.version) or {}))
    for one in objects:
        errors = sorted(validator.iter_errors(one), key=lambda error: list(map(str, error.absolute_path)))
        if errors:
            told = [text for error in errors for text in _told(error)]
            shown = told[0] if len(told) == 1 else f"[{', '.join(told)}]"
            place = "/".join(filter(None, (namespace_of(one), name_of(one))))
            return (
                f'error validating existing CRs against new CRD\'s schema for "{name_of(new)}": error validating '
                f'{kind.api_version}, Kind={kind.kind} "{place}": updated validation is too restrictive: {shown}'
            )
    return ""


def converts_by_webhook(crd: ReadOnly) -> bool:
    """Objects may look different by the time they are read: a violation is a warning only."""
    return ((crd.get("spec") or {}).get("conversion") or {}).get("strategy") == "Webhook"


def _served(crd: ReadOnly) -> Mapping[str, Manifest]:
    """Schema by name of served version."""
    versions = (crd.get("spec") or {}).get("versions") or ()
    return {
        str(one.get("name")): (one.get("schema") or {}).get("openAPIV3Schema") or {}
        for one in versions
        if one.get("served")
    }


_LISTS = ("allOf", "anyOf", "oneOf")
_ONES = ("items", "additionalProperties", "not")


def _as_json_schema(schema: Any) -> Any:
    """The structural schema in the words of JSON Schema: `nullable` and integers or strings are spelled out."""
    if not isinstance(schema, Mapping):
        return schema
    plain = {key: _inner(key, value) for key, value in schema.items() if key not in ("default", "format", "nullable")}
    if plain.get("x-kubernetes-int-or-string"):
        plain["type"] = ["integer", "string"]
    if schema.get("nullable"):
        for key in ("type", "enum"):
            if key in plain:
                listed = plain[key] if isinstance(plain[key], list) else [plain[key]]
                plain[key] = [*listed, "null" if key == "type" else None]
    return plain


def _inner(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: _as_json_schema(inner) for name, inner in value.items()}
    if key in _LISTS:
        return [_as_json_schema(inner) for inner in value]
    return _as_json_schema(value) if key in _ONES else value


def _told(error: ValidationError) -> Iterator[str]:
    """An error in the words of the API server."""
    path = ".".join(map(str, error.absolute_path))
    where = f"[].{path}" if path else "[]"
    if error.validator == "required":
        # one error per absent field, each with the same list of required ones: the message names its own
        yield f"{where}.{error.message.split(chr(39))[1]}: Required value"
        return
    value = json.dumps(error.instance)
    if error.validator == "enum":
        allowed: Any = error.validator_value
        supported = ", ".join(map(json.dumps, allowed))
        yield f"{where}: Unsupported value: {value}: supported values: {supported}"
        return
    sentence = _SENTENCES.get(str(error.validator))
    problem = f"{path} in body {sentence.format(error.validator_value)}" if sentence else error.message
    yield f"{where}: Invalid value: {value}: {problem}"


_SENTENCES: Mapping[str, str] = {
    "minimum": "should be greater than or equal to {}",
    "maximum": "should be less than or equal to {}",
    "minLength": "should be at least {} chars long",
    "maxLength": "should be at most {} chars long",
    "minItems": "should have at least {} items",
    "maxItems": "should have at most {} items",
    "pattern": "should match '{}'",
    "type": "must be of type {}",
}
