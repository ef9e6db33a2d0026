"""Says whether a write would change anything, by comparing it with the object that this run has read."""

from __future__ import annotations

import json
from typing import Any

from shared.api.manifest import Manifest, ReadOnly, metadata, resource_version_of
from shared.names import FIELD_MANAGER


def is_subset(desired: Any, present: Any) -> bool:
    """Whether every wanted field is already present; lists are compared element by element, with equal length."""
    match desired, present:
        case dict(), dict():
            return all(key in present and is_subset(value, present[key]) for key, value in desired.items())
        case list(), list():
            return len(desired) == len(present) and all(map(is_subset, desired, present))
        case (([] | {}), None):
            return True  # why: the API server returns null for an empty list in a required field, e.g. a Role's rules
    return type(desired) is type(present) and bool(desired == present)


def applied(desired: Manifest, present: ReadOnly, manager: str = FIELD_MANAGER) -> bool:
    """Whether a server-side apply would change nothing: no field to set, and no field of the manager to remove."""
    return is_subset(desired, present) and not any(
        _gives_up(entry.get("fieldsV1") or {}, desired)
        for entry in metadata(present).get("managedFields") or ()
        if entry.get("manager") == manager and entry.get("operation") == "Apply" and not entry.get("subresource")
    )


def replaced(desired: Manifest, present: ReadOnly) -> bool:
    """Whether a PUT would change nothing; a manifest without resourceVersion is compared without it."""
    if resource_version_of(desired):
        return desired == present
    meta = {key: value for key, value in metadata(present).items() if key != "resourceVersion"}
    return desired == {**present, "metadata": meta}


def _gives_up(owned: ReadOnly, desired: Any) -> bool:
    """Whether a field that we own (`fieldsV1`) is no longer wanted, so that the apply would remove it."""
    for key, inner in owned.items():
        if key == ".":
            continue
        found, value = _child(key, desired)
        if not found or _gives_up(inner, value):
            return True
    return False


def _child(key: str, desired: Any) -> tuple[bool, Any]:
    """The part of the wanted value that a key of `fieldsV1` names, and whether it exists."""
    prefix, _, name = key.partition(":")
    match prefix, desired:
        case "f", dict():
            return name in desired, desired.get(name)
        case "k", list():
            identity = json.loads(name)
            return next(((True, item) for item in desired if _is_item(identity, item)), (False, None))
        case "v", list():
            return json.loads(name) in desired, None
    return False, None


def _is_item(identity: ReadOnly, item: ReadOnly) -> bool:
    """Whether the list item has that identity; a key that it leaves out was defaulted by the server."""
    return any(key in item for key in identity) and all(
        item.get(key, value) == value for key, value in identity.items()
    )
