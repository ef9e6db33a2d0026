"""JSON merge patches (RFC 7396): what one makes of a value, and which one makes one value out of another."""

from __future__ import annotations

from typing import Any


def merged(target: Any, patch: Any) -> Any:  # why: any JSON value
    """The value with the patch: null deletes, objects merge, everything else replaces. A new value."""
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
    """The patch that makes the new value out of the old one."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    patch = {key: patch_between(old.get(key), value) for key, value in new.items() if old.get(key) != value}
    return patch | {key: None for key in old if key not in new}
