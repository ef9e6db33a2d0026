"""Files by digest: complete or absent, shared by processes, safe to lose."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

_ASIDE: Final = ".aside-"
_LOCK: Final = ".lock"
_STALE_SECONDS: Final = 3600.0
_LIMIT_BYTES: Final = 4 * 1024 * 1024 * 1024


class Store:
    """A folder of files named by digest. A kill at any instant leaves whole files, and scratch that is swept later."""

    def __init__(self, folder: Path, *, limit_bytes: int = _LIMIT_BYTES) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes

    def path(self, digest: str) -> Path | None:
        """The file of a digest, or None when it is not here."""
        path = self._path(digest)
        try:
            os.utime(path)  # what was read last is forgotten last
        except FileNotFoundError:
            return None
        return path

    def fill(self, digest: str, write: Callable[[BinaryIO], None]) -> Path:
        """The file of a digest, written by `write` unless it is here; one process writes, the others wait for it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._locked(digest):
            if found := self.path(digest):
                return found
            self._sweep()
            self._write(self._path(digest), write)
        return self._path(digest)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder that is gone afterwards."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=_ASIDE, dir=self._folder) as folder:
            yield Path(folder)

    def _path(self, digest: str) -> Path:
        return self._folder / digest.replace(":", "-")

    def _write(self, path: Path, write: Callable[[BinaryIO], None]) -> None:
        descriptor, aside = tempfile.mkstemp(prefix=_ASIDE, dir=self._folder)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                write(stream)
                stream.flush()
                os.fsync(stream.fileno())
            Path(aside).replace(path)
        except BaseException:
            with suppress(FileNotFoundError):
                Path(aside).unlink()
            raise
        self._sync_folder()

    def _sync_folder(self) -> None:
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def _locked(self, digest: str) -> Iterator[None]:
        # The kernel frees the lock of a killed process; the file itself stays, for removing it would race.
        with (self._folder / f"{_path_safe(digest)}{_LOCK}").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _sweep(self) -> None:
        """Remove scratch of killed processes, and the files read longest ago while there are too many bytes."""
        before = time.time() - _STALE_SECONDS
        kept = []
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):
                status = path.stat()
                if path.name.startswith(_ASIDE) and status.st_mtime < before:
                    _remove(path)
                elif path.is_file() and not path.name.startswith(_ASIDE) and path.suffix != _LOCK:
                    kept.append((status.st_mtime, status.st_size, path))
        surplus = sum(size for _, size, _ in kept) - self._limit_bytes
        for _, size, path in sorted(kept):
            if surplus <= 0:
                break
            path.unlink(missing_ok=True)
            surplus -= size


def _path_safe(digest: str) -> str:
    return digest.replace(":", "-")


def _remove(path: Path) -> None:
    if path.is_dir():
        for child in path.iterdir():
            child.unlink(missing_ok=True)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
