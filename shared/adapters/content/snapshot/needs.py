"""The other files in a store that a snapshot needs."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

from shared.adapters.content.snapshot.form import FORMAT, BrokenSnapshot
from shared.adapters.content.snapshot.reading import Snapshot, file_name

IMAGE: Final = f"catalog{FORMAT}-"
"""What the names of snapshots of images begin with; the digest follows."""
FOLDER: Final = f"folder{FORMAT}-"
"""What the names of snapshots of folders begin with."""


def needs(path: Path) -> Collection[str]:
    """The names of the files that a snapshot cannot do without; of another file nothing."""
    if not path.name.startswith((IMAGE, FOLDER)):
        return ()
    try:
        snapshot = Snapshot.open(path, path.with_name)
    except (BrokenSnapshot, FileNotFoundError):
        return ()
    return needed_by(snapshot)


def needed_by(snapshot: Snapshot) -> Collection[str]:
    """The names of the files that an open snapshot cannot do without. BrokenSnapshot."""
    kept = () if snapshot.header.folder else (file_name(one.identity) for one in snapshot.files.values())
    return {*snapshot.header.others, *kept}
