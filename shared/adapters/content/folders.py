"""Catalogs in folders of this machine, indexed once as long as no file changes."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, TypeAlias

from shared.adapters import files
from shared.adapters.content.indexing import indexed, older
from shared.adapters.content.snapshot import Snapshot, Source, identity_of
from shared.adapters.content.snapshot.needs import FOLDER
from shared.adapters.content.snapshot.writing import write
from shared.adapters.content.store import Store

Identify: TypeAlias = Callable[[Path], str]
"""Returns a text that is equal as long as the file does not change."""


def snapshot_of(folder: Path, store: Store, identify: Identify = identity_of) -> Snapshot:
    """The catalog in a folder or a file, as its files are now. NotACatalog when a file is not valid; OSError.

    Only changed files are read; the rest comes from the store. `identify` says when a file has changed: with other
    times, or (`digest_of`) with other content.
    """
    place = folder.resolve(strict=True)
    if not _is_text(place):
        raise OSError(errno.EILSEQ, "its path is not UTF-8, so its index cannot be kept", str(place))
    sources = [Source(found.name, found.path, identify(found.path)) for found in files.files(place)]
    root = place if place.is_dir() else place.parent
    family, name = names_of(place, sources)

    def fill(stream: BinaryIO) -> None:
        write(stream, sources, folder=str(root), older=older(store, family))

    return indexed(store, name, fill)


def names_of(place: Path, sources: Sequence[Source]) -> tuple[str, str]:
    """The prefix of the names of all snapshots of a folder, and the name of the one with these files."""
    family = f"{FOLDER}{_digest(str(place))[:16]}-"
    return family, family + _digest("\n".join(f"{source.path}\0{source.identity}" for source in sources))


def _is_text(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
