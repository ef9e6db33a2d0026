"""Catalogs in folders, files and streams: which files they have, and what is wrong with them."""

from __future__ import annotations

import gc
import mmap
import os
import stat
import sys
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Final

from shared.adapters.paths import image_named_by
from shared.adapters.progress import advanced, ended, heard_by
from shared.domain.catalog import ignore
from shared.domain.catalog.advice import Advice
from shared.domain.catalog.comparison import Catalog
from shared.domain.catalog.conversion import convert
from shared.domain.catalog.documents import NotACatalog
from shared.domain.catalog.judge import Reading
from shared.domain.catalog.verdict import Finding, Place, Verdict, count_lines

STDIN: Final = "-"
_DEEPEST_YAML: Final = 10_000
_DEEPEST_FOLDER: Final = 200
_SHOWN: Final = 100
"""Of a long path."""
_WORTH_A_PROCESS: Final = 16 * 2**20
"""Bytes of a catalog from which on two processes are quicker than one."""
_CHUNK_BYTES: Final = 2**20
_STDIN_BYTES: Final = 4 * 2**30
_MAPPED_FROM: Final = 256 * 2**20
"""Bytes from which on a file is not copied into memory."""


@dataclass(frozen=True, slots=True)
class File:
    """One file of a catalog."""

    name: str
    """Its path below the folder of the catalog, with whatever is no text replaced."""
    path: Path

    @property
    def size(self) -> int:
        """Its bytes; 0 when it cannot be looked at."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def read(self) -> bytes:
        """What it holds. OSError when it cannot be read."""
        with self.path.open("rb") as stream:
            status = os.fstat(stream.fileno())
            advanced("reading", status.st_size, "files")
            if status.st_size >= _MAPPED_FROM:
                return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)  # type: ignore[return-value]  # why: reads alike
            return stream.read()


@contextmanager
def opened(path: str) -> Iterator[list[File]]:
    """The files of the catalog in a folder, a file, an image, or on stdin (`-`). OSError or OciError if none."""
    if path == STDIN:
        with stdin() as found:
            yield [found]
    elif image := image_named_by(path):
        # Imported only here: most catalogs are folders, and their readers should not wait for what images need.
        from shared.adapters.images import folder_of

        with folder_of(image) as folder:
            yield files(folder)
    else:
        yield files(Path(path))
    ended()


@contextmanager
def stdin() -> Iterator[File]:
    """What comes on stdin, aside in a file: it may be larger than memory. OSError when it does not end."""
    with tempfile.NamedTemporaryFile(prefix="olmf-stdin-") as aside:
        while chunk := sys.stdin.buffer.read(_CHUNK_BYTES):
            aside.write(chunk)
            if aside.tell() > _STDIN_BYTES:
                raise OSError(0, f"more than {_STDIN_BYTES} bytes", STDIN)
        aside.flush()
        yield File(STDIN, Path(aside.name))


def judge(path: str) -> Verdict:
    """Judge the catalog that a path leads to. OciError when an image cannot be had."""
    try:
        with opened(path) as found:
            return judge_files(found)
    except OSError as error:
        return Verdict((Finding(_sentence(error), Place(path)),))


def advise(path: str) -> tuple[Advice, ...]:
    """What there is to say about a valid catalog. NotACatalog when it is not valid, OSError or OciError if none."""
    with opened(path) as found:
        reading = _read_all(found, lambda: Reading(advice=[]))
        _check(path, reading)
        by_name = {file.name: file for file in found}
        advice = reading.all_advice()
        lines = count_lines((one.place for one in advice), lambda name: by_name[name].read())
        return tuple(replace(one, place=lines.get(one.place, one.place)) for one in advice)


def compared(path: str) -> Catalog:
    """A catalog for a comparison. NotACatalog when it is not valid, OSError or OciError when it cannot be had."""
    with opened(path) as found:
        reading = _read_all(found, lambda: Reading(statements={}))
        _check(path, reading)
        return Catalog(convert(reading.blobs)[0], reading.statements or {})


def _check(path: str, reading: Reading) -> None:
    if not (verdict := reading.verdict()).ok:
        why = f"{verdict.findings[0].message}; `olmf catalog validate {path}` tells all"
        raise NotACatalog(f"{path} is no valid catalog: {why}")


def judge_files(found: list[File]) -> Verdict:
    """Judge a catalog by its files."""
    by_name = {file.name: file for file in found}
    return _read_all(found).verdict().located(lambda name: by_name[name].read())


def _read_all(found: list[File], new: Callable[[], Reading] = Reading) -> Reading:
    """Read files, the second half of a large catalog in a process beside this one."""
    first, second = _halves(found)
    if not second or (os.cpu_count() or 1) == 1:
        return _read(found, new())
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, get_context("fork")) as beside:
        later = beside.submit(_read_silently, second, new())
        reading = _read(first, new())
        reading.extend(later.result())
    return reading


def _halves(found: list[File]) -> tuple[list[File], list[File]]:
    """The files cut in two about equally large parts; the second is empty when that is not worth a process."""
    sizes = list(accumulate(file.size for file in found))
    if not sizes or sizes[-1] < _WORTH_A_PROCESS:
        return found, []
    middle = bisect_left(sizes, sizes[-1] / 2) + 1
    return found[:middle], found[middle:]


def _read(found: list[File], reading: Reading) -> Reading:
    with _unhindered():
        for file in found:
            try:
                reading.add_file(file.name, file.read())
            except OSError as error:
                reading.findings.append(Finding(_sentence(error), Place(file.name)))
    return reading


def _read_silently(found: list[File], reading: Reading) -> Reading:
    """In another process, which has no line of its own to tell how far it is."""
    with heard_by(None):
        return _read(found, reading)


@contextmanager
def _unhindered() -> Iterator[None]:
    """Let YAML be nested as deeply as Go lets it be, and nobody look for cycles where there are none."""
    limit, collects = sys.getrecursionlimit(), gc.isenabled()
    sys.setrecursionlimit(2 * _DEEPEST_YAML + limit)  # two calls for each level
    gc.disable()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if collects:
            gc.enable()


def _sentence(error: OSError) -> str:
    return f"read {error.filename}: {(error.strerror or str(error)).lower()}"


def files(root: Path) -> list[File]:
    """The files of a catalog, in the order in which they are read; a file is a catalog of its own. OSError if none."""
    if not root.is_dir():
        root.stat()  # says what is wrong with it, if anything is
        return [File(_shown(root.name), root)]
    found = sorted(_walk(root, (), set()), key=lambda parts: parts)
    names = {"/".join(map(_shown, parts)): root.joinpath(*parts) for parts in found}
    lists = {name: path for name, path in names.items() if name.rpartition("/")[2] == ignore.NAME}
    rules = ignore.IgnoreRules.parse({name: path.read_text("utf-8", "replace") for name, path in lists.items()})
    return [File(name, path) for name, path in names.items() if not rules.is_ignored(name)]


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
                continue  # how a volume of a pod keeps the versions of its content
            if entry.is_dir():
                yield from _walk(Path(entry.path), (*above, entry.name), seen)
            elif not entry.is_file() and not entry.is_symlink():
                raise OSError(0, f"a {_kind(entry)}, not a file", entry.path)
            else:
                yield (*above, entry.name)


def _kind(entry: os.DirEntry[str]) -> str:
    mode = entry.stat(follow_symlinks=False).st_mode
    return "pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
