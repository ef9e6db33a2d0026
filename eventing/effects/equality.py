"""Would a write change anything? Compares it with what this run has read."""

from __future__ import annotations

import json
from typing import Any

from shared.api.manifest import Manifest, ReadOnly, metadata, version_of
from shared.names import FIELD_MANAGER


def is_subset(wanted: Any, present: Any) -> bool:
    """Everything wanted is already there; lists must have the same length, element by element."""
    match wanted, present:
        case dict(), dict():
            return all(key in present and is_subset(value, present[key]) for key, value in wanted.items())
        case list(), list():
            return len(wanted) == len(present) and all(map(is_subset, wanted, present))
        case (([] | {}), None):
            return True  # why: the API server says null for an empty list of a required field, e.g. a Role's rules
    return type(wanted) is type(present) and bool(wanted == present)


def applied(wanted: Manifest, present: ReadOnly) -> bool:
    """A server-side apply of ours would change nothing: no field to set, and none of ours to give up."""
    return is_subset(wanted, present) and not any(
        _gives_up(entry.get("fieldsV1") or {}, wanted)
        for entry in metadata(present).get("managedFields") or ()
        if entry.get("manager") == FIELD_MANAGER and entry.get("operation") == "Apply" and not entry.get("subresource")
    )


def replaced(wanted: Manifest, present: ReadOnly) -> bool:
    """A PUT would change nothing; a manifest without resourceVersion is compared without it."""
    if version_of(wanted):
        return wanted == present
    meta = {key: value for key, value in metadata(present).items() if key != "resourceVersion"}
    return wanted == {**present, "metadata": meta}


def _gives_up(owned: ReadOnly, wanted: Any) -> bool:
    """Some field that we own (`fieldsV1`) is no longer wanted: applying would remove it."""
    for key, inner in owned.items():
        if key == ".":
            continue
        found, value = _child(key, wanted)
        if not found or _gives_up(inner, value):
            return True
    return False


def _child(key: str, wanted: Any) -> tuple[bool, Any]:
    """What a key of `fieldsV1` names inside the wanted value, and whether it is there."""
    prefix, _, name = key.partition(":")
    match prefix, wanted:
        case "f", dict():
            return name in wanted, wanted.get(name)
        case "k", list():
            identity = json.loads(name)
            return next(((True, item) for item in wanted if _is_item(identity, item)), (False, None))
        case "v", list():
            return json.loads(name) in wanted, None
    return False, None


def _is_item(identity: ReadOnly, item: ReadOnly) -> bool:
    """The list item has that identity; a key that it leaves out was defaulted by the server."""
    return any(key in item for key in identity) and all(
        item.get(key, value) == value for key, value in identity.items()
    )
