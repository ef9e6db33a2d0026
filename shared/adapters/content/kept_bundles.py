"""The files of bundle images by digest, which never names others: their registry is asked once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import BinaryIO, Final

import msgspec

from shared.adapters.content.store import Store
from shared.adapters.oci.reference import Reference
from shared.domain.bundle.model import Files

BUNDLE: Final = "bundle1-"
"""Begins the names of these files, each a MessagePack map of contents by path."""
_FILES = msgspec.msgpack.Decoder(dict[str, bytes])


def files_of(reference: Reference, store: Store, pull: Callable[[Reference], Files]) -> Files:
    """The files of a bundle image; `pull` fetches those that are not kept, among them all that a tag names.

    NoStoreFolder, OSError, and what `pull` raises, of which nothing is kept.
    """
    if not reference.digest:
        return pull(reference)
    named = str(reference.at(reference.digest))
    name = f"{BUNDLE}{hashlib.sha256(named.encode()).hexdigest()}"

    def write(stream: BinaryIO) -> None:
        stream.write(msgspec.msgpack.encode(dict(pull(reference))))

    kept = store.fill(name, write)
    try:
        return _FILES.decode(kept.read_bytes())
    except (FileNotFoundError, msgspec.MsgspecError):  # another process made room, or the file is damaged
        store.drop(name)
        return pull(reference)
