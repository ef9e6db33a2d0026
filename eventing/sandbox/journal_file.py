"""The append-only file that lets a sandbox resume where it stopped: one JSON line per write."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson


class JournalFile:
    """The file. Lines are written at once: they survive a crash of the process, but not of the machine."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)

    def read(self) -> Iterator[Any]:
        """Every complete line; an incomplete last line (the process died during the write) is removed."""
        whole = 0
        with self._path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                yield orjson.loads(line)
                whole += len(line)
        os.truncate(self._fd, whole)

    def append(self, line: bytes) -> None:
        """Add one line."""
        os.write(self._fd, line + b"\n")

    def rewrite(self, lines: Iterable[bytes]) -> None:
        """Replace all lines by these, atomically."""
        fresh = self._path.with_suffix(".new")
        fresh.write_bytes(b"".join(line + b"\n" for line in lines))
        fresh.chmod(0o600)
        fresh.replace(self._path)
        self.close()
        self._fd = os.open(self._path, os.O_RDWR | os.O_APPEND)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)
