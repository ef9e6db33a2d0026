"""The schema of a version as one flat table: path to schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from shared.api.manifest import ReadOnly

ROOT: Final = "^"
_HOLDERS: Final = frozenset(
    {
        "items", "allOf", "anyOf", "oneOf", "not", "properties", "additionalProperties", "patternProperties",
        "additionalItems", "definitions", "dependencies",
    }
)  # fmt: skip
"""Keywords with schemas inside; most schemas have none."""
DEEPEST: Final = 400
"""Schemas inside each other that are looked into; a manifest that came as JSON or YAML text has fewer."""


def flatten(version: ReadOnly) -> dict[str, ReadOnly]:
    """Every property by its path, such as `^.spec.list.items.name`. RecursionError beyond DEEPEST."""
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    found: dict[str, ReadOnly] = {}
    if isinstance(schema, Mapping):
        _collect(ROOT, schema, 0, found)
    return found


def _collect(path: str, schema: ReadOnly, depth: int, found: dict[str, ReadOnly]) -> None:
    if depth > DEEPEST:
        raise RecursionError(f"{path[:80]}…: schemas are nested more than {DEEPEST} deep")
    found[path] = schema
    if not _HOLDERS.isdisjoint(schema):
        for name, inner in _inner(schema):
            _collect(path + name, inner, depth + 1, found)


def _inner(schema: ReadOnly) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Where two have the same path, the reference keeps the one that it meets last."""
    yield from _alone_or_listed(schema, "items")
    for key in ("allOf", "anyOf", "oneOf"):
        yield from _alone_or_listed(schema, key)
    yield from _alone_or_listed(schema, "not")
    for name, found in (schema.get("properties") or {}).items():
        yield f".{name}", found or {}
    yield from _alone_or_listed(schema, "additionalProperties")
    yield from _keyed(schema, "patternProperties")
    yield from _alone_or_listed(schema, "additionalItems")
    yield from _keyed(schema, "definitions")
    yield from _keyed(schema, "dependencies")


def _alone_or_listed(schema: ReadOnly, key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found = schema.get(key)
    if isinstance(found, Mapping):
        yield f".{key}", found
    elif isinstance(found, list):
        yield from ((f".{key}[{index}]", one or {}) for index, one in enumerate(found))


def _keyed(schema: ReadOnly, key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, found in (schema.get(key) or {}).items():
        if isinstance(found, Mapping):
            yield f".{key}[{name}]", found
