"""A folder of files by name: each is complete or absent, processes share them, and all can be made again."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from shared.adapters.content import kept_blobs
from shared.adapters.content.kept_blobs import BLOB, KeptBlobs
from shared.adapters.content.room import Batch, Room
from shared.adapters.content.snapshot.needs import needs

_ASIDE: Final = ".aside-"
_LOCK: Final = ".lock"
GRANT: Final = "grant-"
"""Begins the names of empty files that are not content, and that this module leaves alone."""
_STALE_SECONDS: Final = 60.0
_NOT_OURS: Final = (errno.EPERM, errno.EACCES, errno.EROFS)
"""Of a store that another user fills, or that is part of an image."""
_LIMIT_BYTES: Final = 2 * 1024 * 1024 * 1024

References = Callable[[Path], Collection[str]]
"""Returns the names of the files that a file needs, and which therefore are kept as long as that file."""


class NoStoreFolder(OSError):
    """The folder of a store cannot be made."""

    def __init__(self, folder: Path, cause: OSError) -> None:
        super().__init__(cause.errno, cause.strerror, str(folder))

    def __str__(self) -> str:
        why = (self.strerror or "it cannot be made").lower()
        return f"{self.filename}: {why}: indexed catalogs are kept there; name another folder with OLMF_CONTENT"


class _Kept(NamedTuple):
    """A file as it was when the folder was listed; another process may remove it at any moment."""

    used_ns: int
    size: int
    path: Path


class Store:
    """A folder of files named by digest. A kill leaves whole files, and temporary ones that are removed later."""

    def __init__(self, folder: Path, *, limit_bytes: int = _LIMIT_BYTES, references: References = needs) -> None:
        self.folder = folder
        self.limit_bytes = limit_bytes
        self._references = references

    @classmethod
    def of_user(cls, environ: Mapping[str, str]) -> Store:
        """The store of a person without an installation: `OLMF_CONTENT`, else below the cache folder of the user."""
        if named := environ.get("OLMF_CONTENT"):
            return cls(Path(named))
        return cls(Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "olmf")

    def path(self, name: str) -> Path | None:
        """The file of a name; None when absent."""
        path = self._path(name)
        try:
            os.utime(path)  # the file that was read last is removed last
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno not in _NOT_OURS:
                raise
        return path

    def needed(self, name: str) -> Path:
        """The file of a name. FileNotFoundError when absent."""
        if (found := self.path(name)) is None:
            raise FileNotFoundError(f"{self._path(name)} was forgotten")
        return found

    def fill(self, name: str, write: Callable[[BinaryIO], None]) -> Path:
        """The file of a name, written by `write` if absent; one process writes, the others wait.

        NoStoreFolder. OciError when it does not fit.
        """
        if found := self.path(name):
            return found
        self._make()
        with self._locked(name):
            if found := self.path(name):
                return found
            self._sweep()
            with self._aside() as (stream, aside):
                write(Room(self).measured(stream))
                self._finish(stream, aside, name)
        return self._path(name)

    @contextmanager
    def adding(self) -> Iterator[Batch]:
        """Add files that belong together. When the block fails, those that were not here before are gone again."""
        self._make()
        self._sweep()
        batch = Batch(self, self._add)
        try:
            yield batch
        except BaseException:
            for name in batch.made:
                self.drop(name)
            raise

    def free(self, desired: int, spared: Collection[str] = ()) -> int:
        """How many bytes may be added, after making room for so many; files that are being written count, too.

        The `spared` files stay: a catalog that is being written needs them.
        """
        left = self.limit_bytes - self.size() - sum(one.size for one in self._asides())
        left += self._drop_blobs(desired - left)
        return left + self._shrink(desired - left, spared)

    def blobs(self) -> KeptBlobs:
        """The place for the blobs of one pull."""
        return KeptBlobs(self.folder, self)

    def _add(self, write: Callable[[BinaryIO], str]) -> tuple[str, bool]:
        """Write a file whose name `write` returns; that name, and whether it was not here before."""
        with self._aside() as (stream, aside):
            name = write(stream)
            if is_new := self.path(name) is None:
                self._finish(stream, aside, name)
        return name, is_new

    def drop(self, name: str) -> None:
        """Remove one file, because it is damaged."""
        self._path(name).unlink(missing_ok=True)

    def newest(self, prefix: str) -> str | None:
        """The file name of the most recently used file whose name begins with `prefix`; None without one."""
        found = [one for one in self._kept() if one.path.name.startswith(file_of(prefix))]
        return max(found).path.name if found else None

    def names(self, prefix: str = "") -> list[str]:
        """The file names that begin with `prefix`, sorted."""
        return sorted(one.path.name for one in self._kept() if one.path.name.startswith(file_of(prefix)))

    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(one.size for one in self._kept())

    def forget(self, is_kept: Callable[[str], bool], *, unused_seconds: float = 0.0) -> int:
        """Remove the files that are not wanted and that no wanted file needs; returns the bytes freed.

        A file that was used in the last `unused_seconds` counts as wanted.
        """
        self._sweep()
        kept, used_since = list(self._kept()), time.time_ns() - unused_seconds * 1e9
        roots = [one.path for one in kept if is_kept(one.path.name) or one.used_ns > used_since]
        needed = {path.name for path in roots}
        while roots:
            more = {file_of(name) for path in roots for name in self._references(path)} - needed
            needed |= more
            roots = [one.path for one in kept if one.path.name in more]
        removed = 0
        for one in kept:
            if one.path.name not in needed:
                with suppress(FileNotFoundError):  # another process removes files, too
                    one.path.unlink()
                    removed += one.size
        return removed

    def _make(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NoStoreFolder(self.folder, error) from error

    def _path(self, name: str) -> Path:
        return self.folder / file_of(name)

    @contextmanager
    def _aside(self) -> Iterator[tuple[BinaryIO, Path]]:
        descriptor, name = tempfile.mkstemp(prefix=_ASIDE, dir=self.folder)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield stream, Path(name)
        finally:
            with suppress(FileNotFoundError):
                Path(name).unlink()

    def _finish(self, stream: BinaryIO, aside: Path, name: str) -> None:
        stream.flush()
        os.fsync(stream.fileno())  # the content before the name; a name that is lost with the power is filled again
        aside.replace(self._path(name))

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        """Hold the lock of a name, which the kernel frees when the process is killed.

        The file is removed at the end; a process that waited for it tries again with a new one.
        """
        path = self.folder / f"{file_of(name)}{_LOCK}"
        while True:
            with path.open("wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not _is_at(path, lock):
                    continue
                try:
                    yield
                finally:
                    path.unlink(missing_ok=True)
                return

    def _kept(self) -> Iterator[_Kept]:
        """The present files."""
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if not path.name.startswith((_ASIDE, BLOB, GRANT)) and path.suffix != _LOCK:
                yield from _kept_at(path)

    def _asides(self) -> Iterator[_Kept]:
        """The files that are being written, and the blobs of pulls that may go on."""
        for prefix in (_ASIDE, BLOB):
            for path in self.folder.glob(f"{prefix}*"):
                yield from _kept_at(path)

    def _sweep(self) -> None:
        """Remove temporary files of killed processes and, above the size limit, the files read longest ago."""
        before = time.time_ns() - _STALE_SECONDS * 1e9
        for path in self.folder.glob(f"{_ASIDE}*"):
            if any(one.used_ns < before for one in _kept_at(path)) and not _is_being_written(path):
                path.unlink(missing_ok=True)
        for path, _ in kept_blobs.unused(self.folder, kept_blobs.is_over):
            path.unlink(missing_ok=True)
        self._shrink(self.size() - self.limit_bytes)

    def _drop_blobs(self, surplus: int) -> int:
        """Remove the oldest blobs that nobody uses now; returns how many bytes that freed."""
        freed = 0
        for path, size in kept_blobs.unused(self.folder) if surplus > 0 else ():
            path.unlink(missing_ok=True)
            freed += size
            if freed >= surplus:
                break
        return freed

    def _shrink(self, surplus: int, spared: Collection[str] = ()) -> int:
        """Remove the files read longest ago; returns how many bytes that freed."""
        if surplus <= 0:
            return 0
        kept, freed, stays = sorted(self._kept()), 0, set(map(file_of, spared))
        needed_by = {one.path: {file_of(name) for name in self._references(one.path)} for one in kept}
        users = Counter(name for names in needed_by.values() for name in names)
        kept = [one for one in kept if one.path.name not in stays]
        while freed < surplus and (free := next((one for one in kept if not users[one.path.name]), None)):
            kept.remove(free)
            users.subtract(needed_by[free.path])
            free.path.unlink(missing_ok=True)
            freed += free.size
        return freed


def _kept_at(path: Path) -> Iterator[_Kept]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return  # another process has just removed it
    if stat.S_ISREG(status.st_mode):
        yield _Kept(status.st_mtime_ns, status.st_size, path)


def _is_being_written(path: Path) -> bool:
    """Whether the process that writes it is alive: it holds a lock, which the kernel frees when it is killed."""
    try:
        with path.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _is_at(path: Path, stream: BinaryIO) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(stream.fileno()))
    except FileNotFoundError:
        return False


def file_of(name: str) -> str:
    """The file name of a name."""
    return name.replace(":", "-")
