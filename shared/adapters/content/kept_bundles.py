"""The files of bundle images by digest, which never names others: their registry is asked once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, Final

import msgspec

from shared.adapters.content.store import Store
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.reference import Reference
from shared.domain.bundle.model import Files

BUNDLE: Final = "bundle1-"
"""Begins the names of these files; another number when other files of an image are of interest.

Each is the SHA-256 of the rest, and a MessagePack map of contents by path.
"""
_FILES = msgspec.msgpack.Decoder(dict[str, bytes])
_DIGEST_BYTES: Final = hashlib.sha256().digest_size


def files_of(reference: Reference, store: Store, pull: Callable[[Reference], Files]) -> Files:
    """The files of a bundle image; `pull` fetches those that are not kept, among them all that a tag names.

    Raises what `pull` raises. A store that is full or another user's costs time alone.
    """
    if not reference.digest:
        return pull(reference)
    named = str(reference.at(reference.digest))
    name = f"{BUNDLE}{hashlib.sha256(named.encode()).hexdigest()}"
    if (found := _kept(store, name)) is not None:
        return found
    files = pull(reference)
    content = msgspec.msgpack.encode(dict(files))

    def write(stream: BinaryIO) -> None:
        stream.write(hashlib.sha256(content).digest())
        stream.write(content)

    with suppress(OSError, OciError):
        store.fill(name, write)
    return files


def _kept(store: Store, name: str) -> Files | None:
    """None as well for what a disk has damaged, which is removed."""
    with suppress(OSError):
        if (path := store.path(name)) is not None:
            kept = path.read_bytes()
            content = kept[_DIGEST_BYTES:]
            if hashlib.sha256(content).digest() == kept[:_DIGEST_BYTES]:
                return _FILES.decode(content)
            store.drop(name)
    return None
