"""Catalogs in images, wherever the image is: its files are kept by digest, and indexed once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from shared import names
from shared.adapters.content.indexing import indexed, older
from shared.adapters.content.snapshot import Snapshot, Source, file_name, write
from shared.adapters.content.snapshot.needs import IMAGE
from shared.adapters.content.store import Store
from shared.adapters.oci import OciError, pull
from shared.adapters.oci.origin import N, Origin
from shared.domain.bundle.annotations import CONFIGS, DATABASE, PACKAGE
from shared.domain.catalog import ignore
from shared.domain.catalog.documents import NotACatalog

_CHUNK_BYTES: Final = 1024 * 1024


def name_of(digest: str) -> str:
    """What the snapshot of an image is called in the store."""
    return IMAGE + digest


def snapshot_of_image(origin: Origin[N], reference: N, store: Store) -> Snapshot:
    """The catalog in an image by digest, read from where it is unless the store has it. OciError when it is none."""
    name = name_of(reference.digest)
    try:
        return indexed(store, name, partial(_write, origin, reference, store))
    except OSError as error:
        what = f"the catalog {name} cannot be kept: {error}"
        raise OciError("Unreachable", f"{what}; check the folder that OLMF_CONTENT names") from error


def _write(origin: Origin[N], reference: N, store: Store, stream: BinaryIO) -> None:
    image = pull(origin, reference, directories, lambda content: store.add(partial(_copied, content)))
    files = {path: store.needed(name) for path, name in image.files.items()}
    sources = [
        Source(path, file, file.name.removeprefix("file-").replace("-", ":", 1)) for path, file in _chosen(files)
    ]
    try:
        # The catalog that was used last is most likely the one of which this is the next edition.
        write(stream, sources, left_out=_left_out(image.labels), older=older(store, IMAGE))
    except NotACatalog as error:
        raise OciError(
            "Malformed", f"{reference}: the image holds no catalog: {error}; try `olmf catalog validate` on it"
        ) from error


def directories(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Where a catalog image has its files. OciError when it is none."""
    if CONFIGS in labels:
        return (labels[CONFIGS].strip("/"),)
    if DATABASE in labels:
        raise OciError(
            "Malformed", "it holds a database, a form of catalog that is no longer served: migrate it to files"
        )
    if PACKAGE in labels:
        raise OciError("Malformed", "it is a bundle, not a catalog: name the image of a catalog that lists it")
    raise OciError("Malformed", f"it is no catalog: the label {CONFIGS} does not say where its files are")


def _left_out(labels: Mapping[str, str]) -> tuple[str, ...]:
    try:
        return msgspec.json.decode(labels.get(names.LEFT_OUT, "[]"), type=tuple[str, ...])
    except msgspec.DecodeError:  # somebody else's label: it is their catalog all the same
        return ()


def _chosen(files: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    """The files that `.indexignore` leaves, by path."""
    lists = [path for path in files if path.rpartition("/")[2] == ignore.NAME]
    rules = ignore.IgnoreRules.parse({path: files[path].read_text("utf-8", "replace") for path in lists})
    return ((path, files[path]) for path in sorted(files) if not rules.is_ignored(path))


def _copied(content: BinaryIO, stream: BinaryIO) -> str:
    """Keep a file under its digest: no name of the image ever becomes a path of this machine."""
    seen = hashlib.sha256()
    while chunk := content.read(_CHUNK_BYTES):
        seen.update(chunk)
        stream.write(chunk)
    return file_name(f"sha256:{seen.hexdigest()}")
