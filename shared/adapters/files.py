"""The files of a catalog: in a folder, in an image, a single file, or stdin."""

from __future__ import annotations

import mmap
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.adapters.paths import image_named_by
from shared.adapters.progress import advanced, ended
from shared.domain.catalog import ignore
from shared.domain.catalog.documents import NotACatalog

STDIN: Final = "-"
_DEEPEST_FOLDER: Final = 200
_SHOWN: Final = 100
"""Number of characters shown of a long path."""
_CHUNK_BYTES: Final = 2**20
_IGNORED_BYTES: Final = 256 * 2**10
_COMPARISONS: Final = 10_000_000
"""Of files with patterns: they take less than a minute."""
_STDIN_BYTES: Final = 4 * 2**30
_MAPPED_FROM: Final = 256 * 2**20
"""Minimum size, in bytes, of a file that is mapped instead of read into memory."""


@dataclass(frozen=True, slots=True)
class File:
    """One file of a catalog."""

    name: str
    """Its path below the folder of the catalog; bytes that are not UTF-8 are replaced."""
    path: Path

    @property
    def size(self) -> int:
        """Its size in bytes; 0 when it cannot be read."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def read(self) -> bytes:
        """Its content. OSError when it cannot be read."""
        with self.path.open("rb") as stream:
            status = os.fstat(stream.fileno())
            advanced("reading", status.st_size, "files")
            if status.st_size >= _MAPPED_FROM:
                return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)  # type: ignore[return-value]  # why: reads alike
            return stream.read()


@contextmanager
def opened(path: str) -> Iterator[list[File]]:
    """The files of the catalog in a folder, a file, an image, or on stdin (`-`). OSError or OciError if unreadable."""
    if path == STDIN:
        with stdin() as found:
            yield [found]
    elif image := image_named_by(path):
        # Imported only here: most catalogs are folders, which need no client of registries.
        from shared.adapters.images import folder_of

        with folder_of(image) as folder:
            yield files(folder)
    else:
        yield files(Path(path))
    ended()


@contextmanager
def stdin() -> Iterator[File]:
    """The content of stdin in a temporary file: it may be larger than memory. OSError when it is too large."""
    with tempfile.NamedTemporaryFile(prefix="olmf-stdin-") as aside:
        while chunk := sys.stdin.buffer.read(_CHUNK_BYTES):
            aside.write(chunk)
            if aside.tell() > _STDIN_BYTES:
                raise OSError(0, f"more than {_STDIN_BYTES} bytes", STDIN)
        aside.flush()
        yield File(STDIN, Path(aside.name))


def files(root: Path) -> list[File]:
    """The files of a catalog, in the order of reading; a single file is a catalog, too.

    OSError when it is absent, NotACatalog when what it ignores cannot be known.
    """
    if not root.is_dir():
        root.stat()  # says what is wrong with it, if anything is
        return [File(_shown(root.name), root)]
    found = sorted(_walk(root, (), set()), key=lambda parts: parts)
    names = {"/".join(map(_shown, parts)): root.joinpath(*parts) for parts in found}
    return [File(name, path) for name, path in kept(names)]


def kept(paths: Mapping[str, Path]) -> list[tuple[str, Path]]:
    """The files, by name, that no `.indexignore` among them excludes. NotACatalog when these are too large."""
    lists = {name: path for name, path in paths.items() if name.rpartition("/")[2] == ignore.NAME}
    if sum(path.stat().st_size for path in lists.values()) > _IGNORED_BYTES:
        raise NotACatalog(f"more than {_IGNORED_BYTES} bytes of patterns in files named {ignore.NAME}")
    rules = ignore.IgnoreRules.parse({name: path.read_text("utf-8", "replace") for name, path in lists.items()})
    if len(rules.patterns) * len(paths) > _COMPARISONS:
        raise NotACatalog(f"{len(rules.patterns)} patterns in files named {ignore.NAME} for {len(paths)} files")
    return [(name, path) for name, path in paths.items() if not rules.is_ignored(name)]


def _shown(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "replace")


def _walk(folder: Path, above: tuple[str, ...], seen: set[tuple[int, int]]) -> Iterator[tuple[str, ...]]:
    """All files below a folder. A folder is entered once, however many links lead to it."""
    if len(above) > _DEEPEST_FOLDER:
        raise OSError(0, f"more than {_DEEPEST_FOLDER} folders in each other", f"{str(folder)[:_SHOWN]}…")
    status = folder.stat()
    if (identity := (status.st_dev, status.st_ino)) in seen:
        return
    seen.add(identity)
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.name.startswith(".."):
                continue  # a volume of a pod keeps the versions of its content in such folders
            if entry.is_dir():
                yield from _walk(Path(entry.path), (*above, entry.name), seen)
            elif not entry.is_file() and not entry.is_symlink():
                raise OSError(0, f"a {_kind(entry)}, not a file", entry.path)
            else:
                yield (*above, entry.name)


def _kind(entry: os.DirEntry[str]) -> str:
    mode = entry.stat(follow_symlinks=False).st_mode
    return "pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
