"""Catalogs in images of any origin: their files are stored by digest, and indexed once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from shared import names
from shared.adapters.content.databases import documents_of
from shared.adapters.content.indexing import Indexer, indexed, older, unobserved
from shared.adapters.content.room import Batch
from shared.adapters.content.snapshot import Snapshot, Source, file_name
from shared.adapters.content.snapshot.needs import IMAGE
from shared.adapters.content.snapshot.scan import Observe
from shared.adapters.content.snapshot.writing import write
from shared.adapters.content.store import Store
from shared.adapters.files import kept
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.image import pull
from shared.adapters.oci.origin import N, Origin
from shared.domain.bundle.annotations import CONFIGS, DATABASE, PACKAGE
from shared.domain.catalog.documents import NotACatalog
from shared.domain.serving.from_registry_api import BadResponse, lines_of

_CHUNK_BYTES: Final = 1024 * 1024


def name_of(digest: str) -> str:
    """The name of the snapshot of an image in the store."""
    return IMAGE + digest


def snapshot_of_image(origin: Origin[N], reference: N, store: Store, indexer: Indexer = unobserved) -> Snapshot:
    """The catalog in an image by digest, from the store or else from `origin`. OciError when it is not a catalog."""
    name = name_of(reference.digest)
    try:
        return indexed(store, name, partial(_write, origin, reference, store, indexer=indexer))
    except OSError as error:
        what = f"the catalog {name} cannot be kept: {error}"
        raise OciError("Unreachable", f"{what}; check the folder that OLMF_CONTENT names") from error


def _write(origin: Origin[N], reference: N, store: Store, stream: BinaryIO, *, indexer: Indexer) -> None:
    with store.adding() as batch:
        indexer(
            name_of(reference.digest),
            lambda observe: _write_files(origin, reference, store, stream, batch=batch, observe=observe),
        )


def _write_files(
    origin: Origin[N], reference: N, store: Store, stream: BinaryIO, *, batch: Batch, observe: Observe | None
) -> bool:
    image = pull(origin, reference, directories, lambda content: batch.add(partial(_copied, content)))
    files = {path: store.needed(name) for path, name in image.files.items()}
    try:
        chosen = sorted(kept(files)) if CONFIGS in image.labels else _of_databases(files, batch, store)
        sources = [Source(path, file, file.name.removeprefix("file-").replace("-", ":", 1)) for path, file in chosen]
        # The catalog that was used last is most likely the one of which this is the next edition.
        last = older(store, IMAGE)
        return write(stream, sources, left_out=_left_out(image.labels), older=last, observe=observe)
    except NotACatalog as error:
        raise OciError(
            "BadCatalog", f"{reference}: the image holds no catalog: {error}; try `olmf catalog validate` on it"
        ) from error


def directories(labels: Mapping[str, str]) -> tuple[str, ...]:
    """The folders of a catalog image with its files, or its database. OciError when it is not a catalog."""
    if CONFIGS in labels:
        return (labels[CONFIGS].strip("/"),)
    if DATABASE in labels:
        return (labels[DATABASE].strip("/"),)
    if PACKAGE in labels:
        raise OciError("NoCatalog", "it is a bundle, not a catalog: name the image of a catalog that lists it")
    raise OciError("NoCatalog", f"it is no catalog: the label {CONFIGS} does not say where its files are")


def _left_out(labels: Mapping[str, str]) -> tuple[str, ...]:
    try:
        return msgspec.json.decode(labels.get(names.LEFT_OUT, "[]"), type=tuple[str, ...])
    except msgspec.DecodeError:  # the label of another program: the catalog is valid all the same
        return ()


def _of_databases(files: Mapping[str, Path], batch: Batch, store: Store) -> Iterator[tuple[str, Path]]:
    """The documents of each database of an image, as a file. NotACatalog."""
    for path, file in sorted(files.items()):
        try:
            lines = lines_of(documents_of(file))
        except BadResponse as error:
            raise NotACatalog(f"{path}: {error}") from error
        yield f"{path}.json", store.needed(batch.add(partial(_copied, BytesIO(lines))))


def _copied(content: BinaryIO, stream: BinaryIO) -> str:
    """Store a file under its digest: a name in the image never becomes a path of this machine."""
    seen = hashlib.sha256()
    while chunk := content.read(_CHUNK_BYTES):
        seen.update(chunk)
        stream.write(chunk)
    return file_name(f"sha256:{seen.hexdigest()}")
