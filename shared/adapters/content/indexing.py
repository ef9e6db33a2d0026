"""Snapshots in a store: opened when they are there, made when they are not, and made again when they are of no use."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

from shared.adapters.content.snapshot import BrokenSnapshot, Older, Snapshot
from shared.adapters.content.store import Store


def opened(store: Store, name: str) -> Snapshot | None:
    """The snapshot of a name; None when it is not here, is damaged, or needs an older one that was forgotten."""
    try:
        return Snapshot.open(store.needed(name), store.needed).check()
    except (BrokenSnapshot, FileNotFoundError):
        return None


def older(store: Store, prefix: str) -> Older | None:
    """What a new edition may take records from: of the snapshots whose names begin alike, the one used last."""
    name = store.newest(prefix)
    snapshot = opened(store, name) if name is not None else None
    return Older(name, snapshot) if name is not None and snapshot is not None else None


def indexed(store: Store, name: str, write: Callable[[BinaryIO], None]) -> Snapshot:
    """The snapshot of a name, written by `write` unless the store has it. Errors are those of `write`."""
    store.fill(name, write)
    if (found := opened(store, name)) is not None:
        return found
    store.drop(name)
    return Snapshot.open(store.fill(name, write), store.needed)
