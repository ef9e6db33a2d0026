"""Reads values of any shape, and checks the shape of the objects in a bundle, which may be wrong in every way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from shared.api.manifest import ReadOnly
from shared.domain.bundle.model import CRD, CSV
from shared.domain.go.encode import json_text

_WITH_SPEC: Final = frozenset({CSV, CRD})


def as_object(value: object) -> ReadOnly:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The value if it is text, else an empty one."""
    return value if isinstance(value, str) else ""


def name_in(manifest: ReadOnly) -> str:
    """The name of an object that may have any shape; empty when it has none."""
    return as_text(as_object(manifest.get("metadata")).get("name"))


def defect(manifest: ReadOnly) -> str:
    """Why the API server would refuse an object for its shape; empty when it would not."""
    metadata = manifest.get("metadata") or {}
    if not isinstance(manifest.get("kind"), str | None):
        return f"its kind is not text: {json_text(manifest['kind'])}"
    if not isinstance(metadata, Mapping):
        return "its metadata is not an object"
    for field in ("name", "namespace"):
        if not isinstance(metadata.get(field) or "", str):
            return f"its {field} is not text: {json_text(metadata[field])}"
    for field in ("annotations", "labels"):
        values = metadata.get(field) or {}
        if not isinstance(values, Mapping) or not all(isinstance(value, str) for value in values.values()):
            return f"its {field} are not texts: {json_text(values)}"
    if manifest.get("kind") in _WITH_SPEC and not isinstance(manifest.get("spec") or {}, Mapping):
        return "its spec is not an object"
    return ""


_DEPTH: Final = 200
"""Levels of a document that is read; definitions in the wild have up to 60."""


def is_deep(value: object) -> bool:
    """Whether a value has so many levels that walking through it could exhaust the stack."""
    level = [value]
    for _ in range(_DEPTH):
        level = [inner for one in level for inner in _children(one)]
        if not level:
            return False
    return True


def _children(value: object) -> list[object]:
    match value:
        case dict():
            return [inner for inner in value.values() if isinstance(inner, dict | list)]
        case list():
            return [inner for inner in value if isinstance(inner, dict | list)]
    return []
