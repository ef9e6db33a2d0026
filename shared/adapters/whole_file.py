"""Writes a file in one step."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: Path, pieces: Iterable[bytes], *, mode: int = 0o666) -> None:
    """Write aside and rename: a reader, also after a kill, finds the old content or the new one, never a part.

    `mode` is that of the new file, less the umask. A machine that fails may lose the new content.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(aside, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as stream:
            stream.writelines(pieces)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
