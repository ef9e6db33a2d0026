"""Catalogs that came as lines of JSON, not as files of an image: stored by digest, and indexed once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import BinaryIO, Final

from shared.adapters.content.indexing import indexed
from shared.adapters.content.snapshot import Snapshot, Source, file_name
from shared.adapters.content.snapshot.writing import write
from shared.adapters.content.store import Store

_FILE: Final = "catalog.json"


def digest_of(content: bytes) -> str:
    """`sha256:…`."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def snapshot_of_lines(store: Store, name: str, lines: bytes, *, left_out: Sequence[str] = ()) -> Snapshot:
    """The snapshot of that name, made of the lines unless the store has it. NotACatalog."""
    digest = digest_of(lines)
    file = store.fill(file_name(digest), lambda stream: _put(stream, lines))

    def fill(stream: BinaryIO) -> None:
        write(stream, [Source(_FILE, file, digest)], left_out=tuple(left_out))

    return indexed(store, name, fill)


def _put(stream: BinaryIO, content: bytes) -> None:
    stream.write(content)
