"""Who wrote which field: managedFields, kept up by every write."""

from __future__ import annotations

from eventing.sandbox.calls import Call
from shared.api.manifest import Manifest, ReadOnly


def record_update(call: Call, old: ReadOnly | None, manifest: Manifest) -> None:
    """Note in managedFields what a write other than an apply has changed."""
