"""The journal as files: one JSON entry a line, rotated by size, the oldest forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from eventing.journal.records import Recorded, Saw, inflated, unpack_event, unpack_run

_SUFFIX = ".jsonl"


class JournalFiles:
    """Appends entries to `<folder>/<name>.jsonl`. One writer for each name: let each process have its own."""

    def __init__(self, folder: Path, name: str, *, max_bytes: int = 64 * 1024 * 1024, keep: int = 4) -> None:
        self._path = folder / f"{name}{_SUFFIX}"
        self._max_bytes = max_bytes
        self._keep = keep
        folder.mkdir(parents=True, exist_ok=True)

    def append(self, entry: bytes) -> None:
        """Write one packed entry, or log why not: no run and no event depends on these files."""
        try:
            self._write(inflated(entry) + b"\n")
        except OSError as error:
            import structlog  # why: it takes 100 ms, and readers of these files need no log

            structlog.get_logger().warning("journal_file_failed", file=str(self._path), error=str(error))

    def _write(self, line: bytes) -> None:
        """Append a line; a file that would grow beyond its bound is rotated first."""
        if self._path.exists() and self._path.stat().st_size + len(line) > self._max_bytes:
            self._rotate()
        with self._path.open("ab") as file:
            file.write(line)

    def _rotate(self) -> None:
        for number in range(self._keep - 1, 0, -1):
            older = self._numbered(number - 1) if number > 1 else self._path
            if older.exists():
                older.replace(self._numbered(number))
        if self._keep == 1:
            self._path.unlink()

    def _numbered(self, number: int) -> Path:
        return self._path.with_suffix(f".{number}{_SUFFIX}")


def read_files(folder: Path) -> Iterator[Recorded | Saw]:
    """Every entry of every file, in the order of time.

    A line that was cut off, or that another version wrote, is left out.
    """
    entries = [entry for path in folder.glob(f"*{_SUFFIX}") for entry in _entries(path)]
    return iter(sorted(entries, key=lambda entry: entry.at if isinstance(entry, Saw) else entry.run.at))


def _entries(path: Path) -> Iterator[Recorded | Saw]:
    with path.open("rb") as file:
        for line in file:
            try:
                yield unpack_run(line) if line.startswith(b'{"run"') else unpack_event(line)
            except ValueError:
                continue  # why: a process may be killed while it writes, and a machine may fail
