"""The parts of a schema that have rules in CEL (`x-kubernetes-validations`), found once for each definition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_RULES = "x-kubernetes-validations"


@dataclass(frozen=True, slots=True)
class Ruled:
    """A part of a schema with rules in it or below it."""

    type: str
    rules: tuple[Mapping[str, Any], ...] = ()
    fields: Mapping[str, Ruled] = field(default_factory=dict)
    every: Ruled | None = None
    """What each item of a list, or each value of a map, has to fulfil."""
    keys: tuple[str, ...] = ()
    """The fields by which items of a list are the same before and after a change."""


def ruled(node: Mapping[str, Any]) -> Ruled | None:
    """The tree of a structural schema; None without a rule."""
    fields = {name: found for name, one in (node.get("properties") or {}).items() if (found := ruled(one))}
    inner = node.get("additionalProperties") or node.get("items")
    every = ruled(inner) if isinstance(inner, dict) else None
    rules = tuple(node.get(_RULES) or ())
    if not (rules or fields or every):
        return None
    return Ruled(str(node.get("type", "")), rules, fields, every, tuple(node.get("x-kubernetes-list-map-keys") or ()))
