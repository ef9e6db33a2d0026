"""Where blobs are while they are fetched and read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import BinaryIO, Protocol, cast

from shared.adapters.oci.verify import Descriptor


class Blobs(Protocol):
    """Hands out a file for each blob of one pull."""

    def opened(self, location: str, descriptor: Descriptor) -> AbstractContextManager[BinaryIO]:
        """A file to read and write, with what is here of that blob of that repository; nobody has verified it."""
        ...

    def done(self) -> None:
        """The image was read, and what came of it is kept elsewhere: its blobs are not needed again."""
        ...


class TemporaryBlobs:
    """Blobs that are forgotten at once: in memory or, when large, in a temporary file."""

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes

    @contextmanager
    def opened(self, _: str, __: Descriptor) -> Iterator[BinaryIO]:
        """An empty file. Implements `Blobs`."""
        with tempfile.SpooledTemporaryFile(max_size=self._memory_bytes) as spool:
            yield cast("BinaryIO", spool)  # which it is in all but its declared type

    def done(self) -> None:
        """Nothing is kept. Implements `Blobs`."""
