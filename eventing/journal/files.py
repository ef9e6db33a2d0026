"""The journal as files: one JSON entry a line, rotated by size, the oldest removed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from eventing.journal.records import ReceivedEvent, Recorded, inflated, unpack_event, unpack_run

_SUFFIX = ".jsonl"
MOST_FILES = 200
"""How many files a folder keeps, as processes that ended early leave small ones."""


class JournalFiles:
    """Appends entries to `<folder>/<name>.jsonl`. One writer for each name: let each process have its own.

    A file that is full is given another name; what nobody wrote to for longest is removed, whosever it was.
    """

    def __init__(
        self, folder: Path, name: str, *, file_bytes: int = 64 * 1024 * 1024, folder_bytes: int = 1024 * 1024 * 1024
    ) -> None:
        self._path = folder / f"{name}{_SUFFIX}"
        self._file_bytes = file_bytes
        self._folder_bytes = folder_bytes
        folder.mkdir(parents=True, exist_ok=True)
        self._make_room()

    def append(self, entry: bytes) -> None:
        """Write one packed entry, or log why not: no run and no event depends on these files."""
        try:
            self._write(inflated(entry) + b"\n")
        except OSError as error:
            import structlog  # why: it takes 100 ms, and readers of these files need no log

            structlog.get_logger().warning("journal_file_failed", file=str(self._path), error=str(error))

    def _write(self, line: bytes) -> None:
        """Append a line; a file that would grow beyond its bound is rotated first."""
        if self._path.exists() and self._path.stat().st_size + len(line) > self._file_bytes:
            self._path.replace(self._path.with_suffix(f".{time.time_ns()}{_SUFFIX}"))
            self._make_room()
        with self._path.open("ab") as file:
            file.write(line)

    def _make_room(self) -> None:
        """Remove the oldest files, so that those that stay and one that is full fit into the folder."""
        used = self._file_bytes
        for number, (_, size, path) in enumerate(sorted(_files(self._path.parent), reverse=True), 1):
            used += size
            if used > self._folder_bytes or number > MOST_FILES:
                path.unlink(missing_ok=True)


def _files(folder: Path) -> Iterator[tuple[int, int, Path]]:
    """When each file was last written, its size, and where it is."""
    for path in folder.glob(f"*{_SUFFIX}"):
        with contextlib.suppress(FileNotFoundError):  # another process made room
            found = path.stat()
            yield found.st_mtime_ns, found.st_size, path


def read_files(folder: Path) -> Iterator[Recorded | ReceivedEvent]:
    """Every entry of every file, in the order of time.

    A line that was cut off, or that another version wrote, is left out.
    """
    entries = [entry for path in folder.glob(f"*{_SUFFIX}") for entry in _entries(path)]
    return iter(sorted(entries, key=lambda entry: entry.at if isinstance(entry, ReceivedEvent) else entry.run.at))


def _entries(path: Path) -> Iterator[Recorded | ReceivedEvent]:
    with path.open("rb") as file:
        for line in file:
            try:
                yield unpack_run(line) if line.startswith(b'{"run"') else unpack_event(line)
            except ValueError:
                continue  # why: a process may be killed while it writes, and a machine may fail
