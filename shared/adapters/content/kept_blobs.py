"""Blobs of pulls that did not come to their end: the next pull goes on where a killed one stopped.

A blob is kept for the repository that sent it: a registry that only claims to have a blob of another one must not make
us serve it. Whoever asks for it has shown in the same pull that this repository lets it read the image.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from shared.adapters.content.room import Folder, Room
from shared.adapters.oci.blobs import Blobs, TemporaryBlobs
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.verify import Descriptor

BLOB: Final = ".blob-"
"""Begins the names of these files, which are no content of the store yet."""
KEPT_SECONDS: Final = 3600.0
"""How long a blob waits for the next pull of its image."""
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


class KeptBlobs(Blobs):
    """The blobs of one pull, in the folder of a store, within its bound."""

    def __init__(self, folder: Path, room: Folder) -> None:
        self._folder, self._room = folder, room
        self._seen: list[Path] = []

    @contextmanager
    def opened(self, place: str, descriptor: Descriptor) -> Iterator[BinaryIO]:
        """What is here of the blob; an empty temporary file while another process has it. Implements `Blobs`."""
        path = self._folder / f"{BLOB}{hashlib.sha256(f'{place} {descriptor.digest}'.encode()).hexdigest()}"
        with ExitStack() as stack:
            kept = _locked(path)
            if kept is None:
                yield stack.enter_context(TemporaryBlobs(0).opened(place, descriptor))
                return
            self._seen.append(path)
            stream = stack.enter_context(kept)
            try:
                yield Room(self._room).measured(stream)
            except OSError as error:
                if error.errno not in _FULL:
                    raise
                what = f"its layers cannot be kept here: {error}"
                raise OciError("Unreachable", f"{what}; make room in the folder that OLMF_CONTENT names") from error

    def done(self) -> None:
        """Forget them. Implements `Blobs`."""
        for path in self._seen:
            path.unlink(missing_ok=True)
        self._seen.clear()


def unused(folder: Path, is_old: Callable[[os.stat_result], bool] = lambda _: True) -> Iterator[tuple[Path, int]]:
    """The blobs that nobody reads or writes now, the oldest first, and their sizes."""
    found = []
    for path in folder.glob(f"{BLOB}*"):
        with suppress(FileNotFoundError):  # another process has just removed it
            status = path.stat()
            found.append((status.st_mtime_ns, path, status))
    for _, path, status in sorted(found, key=lambda one: one[:2]):
        if is_old(status) and (stream := _locked(path, create=False)) is not None:
            with stream:
                yield path, status.st_size


def is_over(status: os.stat_result) -> bool:
    """Whether a blob has waited long enough."""
    return status.st_mtime < time.time() - KEPT_SECONDS


def _locked(path: Path, *, create: bool = True) -> BinaryIO | None:
    """The file, which belongs to this process until it is closed or killed; None while it is another one's."""
    with ExitStack() as stack:
        try:
            descriptor = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0), 0o600)
        except OSError:  # the folder is part of an image, or not there
            return None
        stream = stack.enter_context(os.fdopen(descriptor, "r+b"))
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(path.stat(), os.fstat(stream.fileno())):
                return None
        except (BlockingIOError, FileNotFoundError):
            return None
        stack.pop_all()
        return stream
