"""Catalogs in folders of this machine, indexed once as long as no file changes."""

from __future__ import annotations

import hashlib
from pathlib import Path

from shared.adapters import files
from shared.adapters.content.snapshot import BrokenSnapshot, Older, Snapshot, Source, identity_of, write
from shared.adapters.content.snapshot.needs import FOLDER
from shared.adapters.content.store import Store


def snapshot_of(folder: Path, store: Store) -> Snapshot:
    """The catalog in a folder or a file, as its files are now. NotACatalog when a file is none; OSError.

    What the store knows of the folder is used again: where nothing changed, nothing is read; else what changed.
    """
    place = folder.resolve(strict=True)
    sources = sources_of(place)
    root = place if place.is_dir() else place.parent
    family = f"{FOLDER}{_digest(str(place))[:16]}-"
    name = family + _digest("\n".join(f"{source.path}\0{source.identity}" for source in sources))
    older = _opened(store, store.newest(family)) if store.path(name) is None else None
    path = store.fill(name, lambda stream: write(stream, sources, folder=str(root), older=older))
    try:
        return Snapshot.open(path, store.needed)
    except BrokenSnapshot:
        store.drop(name)
        path = store.fill(name, lambda stream: write(stream, sources, folder=str(root)))
        return Snapshot.open(path, store.needed)


def sources_of(folder: Path) -> list[Source]:
    """The files of a catalog, in the order of their paths."""
    return [Source(found.name, found.path, identity_of(found.path)) for found in files.files(folder)]


def _opened(store: Store, name: str | None) -> Older | None:
    if name is None:
        return None
    try:
        return Older(name, Snapshot.open(store.needed(name), store.needed))
    except (BrokenSnapshot, FileNotFoundError):
        return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
