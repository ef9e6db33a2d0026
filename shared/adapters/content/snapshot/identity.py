"""When a file counts as unchanged, without reading it."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Final

DIGEST: Final = "sha256:"
_SETTLED_NANOSECONDS: Final = 1_000_000_000


def identity_of(path: Path) -> str:
    """Equal at two looks while the file did not change.

    A file that was changed just now counts as another one at every look: its times are too coarse to tell.
    """
    status = path.stat()
    now = time.time_ns()
    is_settled = now - max(status.st_ctime_ns, status.st_mtime_ns) > _SETTLED_NANOSECONDS
    return f"{'stat' if is_settled else f'fresh-{now}'}:{_fingerprint(path)}"


def digest_of(path: Path) -> str:
    """The digest of the content: what stays the same when a file is copied, e.g. into an image."""
    with path.open("rb") as stream:
        return DIGEST + hashlib.file_digest(stream, "sha256").hexdigest()


def is_still(path: Path, identity: str) -> bool:
    """The file is the one that was looked at, as far as its times can tell; a digest says nothing about them."""
    return identity.startswith(DIGEST) or identity.rpartition(":")[2] == _fingerprint(path)


def _fingerprint(path: Path) -> str:
    status = path.stat()
    return f"{status.st_ino}-{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"
