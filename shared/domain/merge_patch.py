"""JSON merge patches (RFC 7396): applies a patch, computes the patch between two values, and unites two patches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merged(target: Any, patch: Any) -> Any:  # why: any JSON value
    """A new value with the patch applied: null deletes, objects are merged, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def patch_between(old: Any, new: Any) -> Any:  # why: any JSON value
    """The patch that turns the old value into the new one."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    patch = {key: patch_between(old.get(key), value) for key, value in new.items() if old.get(key) != value}
    return patch | {key: None for key in old if key not in new}


def united(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any] | None:
    """The patch that does what both do, in whatever order; None when they say different things of one field."""
    result = dict(one)
    for key, value in other.items():
        present = result.get(key, value)
        if isinstance(present, Mapping) and isinstance(value, Mapping):
            if (both := united(present, value)) is None:
                return None
            result[key] = both
        elif key in result and present != value:
            return None
        else:
            result[key] = value
    return result
