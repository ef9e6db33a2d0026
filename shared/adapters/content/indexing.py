"""Opens snapshots in a store, and makes those that are absent or damaged."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO, TypeAlias

from shared.adapters.content.snapshot import BrokenSnapshot, Older, Snapshot
from shared.adapters.content.snapshot.scan import Observe
from shared.adapters.content.store import Store

Read: TypeAlias = Callable[[Observe | None], bool]
"""Reads the documents of a catalog, indexes them, and says whether the observer was told of all."""
Indexer: TypeAlias = Callable[[str, Read], object]
"""Makes something of the documents of the snapshot of a name while they are read."""


def unobserved(_: str, read: Read) -> None:
    """Index them, no more."""
    read(None)


def opened(store: Store, name: str) -> Snapshot | None:
    """The snapshot of a name; None when it is absent or damaged, or needs an older one that was removed."""
    try:
        return Snapshot.open(store.needed(name), store.needed).check()
    except (BrokenSnapshot, FileNotFoundError):
        return None


def older(store: Store, prefix: str) -> Older | None:
    """The snapshot from which a new edition may take records: the last used one whose name begins with `prefix`."""
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
