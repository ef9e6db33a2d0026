"""When a file counts as unchanged, without reading it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

_SETTLED_NANOSECONDS: Final = 1_000_000_000


def identity_of(path: Path) -> str:
    """Equal at two looks while the file did not change.

    A file that was changed just now counts as another one at every look: its times are too coarse to tell.
    """
    status = path.stat()
    now = time.time_ns()
    is_settled = now - max(status.st_ctime_ns, status.st_mtime_ns) > _SETTLED_NANOSECONDS
    return f"{'stat' if is_settled else f'fresh-{now}'}:{_fingerprint(path)}"


def is_still(path: Path, identity: str) -> bool:
    """The file is the one that was looked at, as far as its times can tell."""
    return identity.rpartition(":")[2] == _fingerprint(path)


def _fingerprint(path: Path) -> str:
    status = path.stat()
    return f"{status.st_ino}-{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"
