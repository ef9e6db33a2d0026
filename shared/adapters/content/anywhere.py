"""The snapshot of the catalog that a PATH of the command line names."""

from __future__ import annotations

from pathlib import Path

from shared.adapters.content.address_snapshots import Address, snapshot_of_address
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.image_snapshots import snapshot_of_image
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.store import Store
from shared.adapters.oci.reference import Reference
from shared.adapters.paths import image_named_by
from shared.domain.catalog_source import SERVED
from shared.domain.image_source import ImageSource


def snapshot_at(path: str, store: Store) -> Snapshot:
    """The catalog in a folder, a file or an image, or of a server.

    An image is `registry/name:tag`, `oci:DIR[:tag]` or `docker-archive:FILE[:tag]`, a server is `grpc://host:port`.
    Files are read once per state, images once per digest. OciError when an image or a server cannot be read or has no
    catalog, NotACatalog when a file is not valid, OSError when a file cannot be read.
    """
    if path.startswith(SERVED):
        return snapshot_of_address(Address.desired(ImageSource(path, "")), store)[1]
    image = image_named_by(path)
    return _of_image(image, store) if image else snapshot_of(Path(path), store)


def _of_image(image: str, store: Store) -> Snapshot:
    from shared.adapters.images import origin_of
    from shared.adapters.oci.registry import Registry

    with origin_of(image) as (origin, name):
        if isinstance(origin, Registry) and isinstance(name, Reference):
            digest = origin.digest(name)
        else:
            digest = origin.manifest(name)[0]
        return snapshot_of_image(origin, name.at(digest), store)
