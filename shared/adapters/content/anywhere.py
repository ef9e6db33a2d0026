"""The snapshot of a catalog, wherever a PATH of the command line says that it is."""

from __future__ import annotations

from pathlib import Path

from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.image_snapshots import snapshot_of_image
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.store import Store
from shared.adapters.images import is_image, origin_of
from shared.adapters.oci import Reference, Registry
from shared.adapters.oci.layout import MARK


def snapshot_at(path: str, store: Store) -> Snapshot:
    """The catalog in a folder, a file, an image of a registry, `oci:DIR[:tag]` or `docker-archive:FILE[:tag]`.

    Read once per state of its files, or per digest of the image. OciError when an image cannot be had or is no catalog,
    NotACatalog when a file is none, OSError when a file cannot be read.
    """
    if not is_image(path):
        folder = Path(path)
        if not (folder / MARK).is_file():
            return snapshot_of(folder, store)
        path = f"oci:{path}"
    with origin_of(path) as (origin, name):
        if isinstance(origin, Registry) and isinstance(name, Reference):
            digest = origin.digest(name)
        else:
            digest = origin.manifest(name)[0]
        return snapshot_of_image(origin, name.at(digest), store)
