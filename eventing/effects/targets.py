"""The target of a write."""

from __future__ import annotations

from shared.step import Apply, Create, Delete, Merge, Record, Ref, Replace, SetStatus, StoreKeys, Try, Write


def target(write: Write) -> Ref:
    """The ref of the object that a write changes."""
    match write:
        case Create() | Apply() | Try() | Replace() | StoreKeys():
            return Ref.of(write.manifest)
        case Merge() | SetStatus() | Delete() | Record():
            return write.ref
