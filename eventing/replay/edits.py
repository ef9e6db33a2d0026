"""What to send to a world so that its object becomes what it was in another."""

from __future__ import annotations

from typing import Any

from shared.api.manifest import Manifest, metadata

_OWN = (
    "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "deletionTimestamp",
    "deletionGracePeriodSeconds",
)  # fmt: skip
"""Metadata that a server fills in."""


def stripped(manifest: Manifest) -> Manifest:
    """The object as somebody would post it."""
    meta = {key: value for key, value in metadata(manifest).items() if key not in _OWN}
    return {**{key: value for key, value in manifest.items() if key != "status"}, "metadata": meta}


def patch_between(old: Any, new: Any) -> Any:
    """The JSON merge patch that makes the new value out of the old one."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return new
    patch = {key: patch_between(old.get(key), value) for key, value in new.items() if old.get(key) != value}
    return patch | {key: None for key in old if key not in new}
