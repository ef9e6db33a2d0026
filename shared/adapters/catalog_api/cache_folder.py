"""A folder that holds the index of one catalog and nothing else, as `opm serve --cache-dir` has it (fbc.md §16)."""

from __future__ import annotations

from pathlib import Path

from shared.adapters import files
from shared.adapters.content.folders import names_of, snapshot_of
from shared.adapters.content.snapshot import BrokenSnapshot, Snapshot, Source, digest_of
from shared.adapters.content.store import Store
from shared.domain.go.text import quoted

_OURS = ("folder", "catalog", "file-", "lines-", ".aside-")


class CacheError(Exception):
    """The folder cannot be used; the text is the one that users of `opm` know."""


def refreshed(catalog: Path, folder: Path) -> Snapshot:
    """The index of a catalog, made or renewed in the folder."""
    _check(folder)
    return snapshot_of(catalog, Store(folder), digest_of)


def enforced(catalog: Path, folder: Path) -> Snapshot:
    """The index of a catalog that must be in the folder, whole and up to date. CacheError otherwise."""
    _check(folder)
    place, store = catalog.resolve(strict=True), Store(folder)
    sources = [Source(found.name, found.path, digest_of(found.path)) for found in files.files(place)]
    family, desired = names_of(place, sources)
    known = store.newest(family)
    if known is None:
        why = f"open {folder}: no such file or directory" if not folder.is_dir() else f"{folder} holds no index of it"
        raise CacheError(f"integrity check failed: read existing cache digest: {why}: build it with --cache-only")
    try:
        snapshot = Snapshot.open(store.needed(desired), store.needed)
        snapshot.verify()
    except (BrokenSnapshot, FileNotFoundError) as error:
        recorded, computed = quoted(known.removeprefix(family)), quoted(desired.removeprefix(family))
        what = f"cache reports digest as {recorded}, but computed digest is {computed}"
        raise CacheError(f"integrity check failed: cache requires rebuild: {what}") from error
    return snapshot


def _check(folder: Path) -> None:
    if folder.is_dir():
        foreign = sorted(path.name for path in folder.iterdir() if not path.name.startswith(_OURS))
        if foreign:
            raise CacheError(f"cache directory has unexpected contents: {','.join(foreign)}")
