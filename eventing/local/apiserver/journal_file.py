"""The append-only file that lets a sandbox resume where it stopped: one JSON line per write."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from shared.adapters.whole_file import write_whole

ROOM_BYTES = 64 * 1024 * 1024
"""How much the file may grow before it is due to be rewritten."""


class JournalFile:
    """The file. Lines are written at once: they survive a crash of the process, but not of the machine."""

    def __init__(self, path: Path, *, room_bytes: int = ROOM_BYTES) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._room = self._room_bytes = room_bytes
        self._open()

    def _open(self) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._file = os.fdopen(descriptor, "ab", buffering=0)

    def read(self) -> Iterator[Any]:
        """Every complete line; an incomplete last line (the process died during the write) is removed."""
        whole = 0
        with self._path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                yield orjson.loads(line)
                whole += len(line)
        self._file.truncate(whole)

    def append(self, line: bytes) -> None:
        """Add one line, or nothing: when the disk is full, the part that was written is removed again."""
        before, rest = os.fstat(self._file.fileno()).st_size, memoryview(line + b"\n")
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            self._file.truncate(before)
            raise
        self._room -= len(line) + 1

    @property
    def is_due(self) -> bool:
        """Whether it has grown so much that it should be rewritten."""
        return self._room < 0

    def rewrite(self, lines: Iterable[bytes]) -> None:
        """Replace all lines by these, in one step; when that fails, the file is due again only after it has grown."""
        self._room = self._room_bytes
        write_whole(self._path, (line + b"\n" for line in lines), mode=0o600)
        self.close()
        self._open()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
