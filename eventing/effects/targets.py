"""Which object a write is about."""

from __future__ import annotations

from shared.step import Apply, Create, Delete, Merge, Record, Ref, Replace, SetStatus, Write


def target(write: Write) -> Ref:
    """The object that a write is about."""
    match write:
        case Create(manifest) | Apply(manifest) | Replace(manifest):
            return Ref.of(manifest)
        case Merge() | SetStatus() | Delete() | Record():
            return write.ref
