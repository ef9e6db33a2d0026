"""Judges the catalog at a path: its defects, the advice about it, and its content for a comparison."""

from __future__ import annotations

import gc
import os
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from shared.adapters.files import File, files, opened
from shared.adapters.progress import heard_by
from shared.domain.authoring.judging.advice import Advice
from shared.domain.authoring.judging.comparison import Catalog
from shared.domain.authoring.judging.conversion import convert
from shared.domain.authoring.judging.judge import Reading
from shared.domain.catalog.documents import NotACatalog
from shared.domain.catalog.validation_result import Finding, Place, ValidationResult, count_lines
from shared.domain.go.yaml import DEEPEST

_WORTH_A_PROCESS: Final = 16 * 2**20
"""Minimum size of a catalog, in bytes, for which two processes are faster than one."""


def judge(path: str) -> ValidationResult:
    """Judge the catalog at a path. OciError when an image cannot be read."""
    try:
        with opened(path) as found:
            return judge_files(found)
    except (NotACatalog, OSError) as error:
        return ValidationResult((Finding(_sentence(error), Place(path)),))


def advise(path: str) -> tuple[Advice, ...]:
    """The advice about a valid catalog. NotACatalog when it is not valid, OSError or OciError when unreadable."""
    with opened(path) as found:
        reading = _read_all(found, lambda: Reading(advice=[]))
        contents = _contents(found)
        _check(path, reading, contents)
        advice = reading.all_advice()
        lines = count_lines((one.place for one in advice), contents)
        return tuple(replace(one, place=lines.get(one.place, one.place)) for one in advice)


def compared(path: str) -> Catalog:
    """A catalog for a comparison. NotACatalog when it is not valid, OSError or OciError when unreadable."""
    with opened(path) as found:
        reading = _read_all(found, lambda: Reading(statements={}))
        _check(path, reading, _contents(found))
        return Catalog(convert(reading.blobs)[0], reading.statements or {})


def _check(path: str, reading: Reading, contents: Callable[[str], bytes]) -> None:
    if not (result := reading.result()).is_valid:
        [first] = ValidationResult(result.findings[:1]).located(contents).findings
        what = f"{first.message} ({first.place})" if str(first.place) else first.message
        raise NotACatalog(f"{path} is no valid catalog: {what}; `olmf catalog validate {path}` lists all errors")


def judge_files(found: list[File]) -> ValidationResult:
    """Judge a catalog by its files."""
    return _read_all(found).result().located(_contents(found))


def judge_alone(root: Path) -> ValidationResult:
    """Judge the catalog in a folder without a second process, which a process with threads must not start."""
    try:
        found = files(root)
        return _read(found, Reading()).result().located(_contents(found))
    except (NotACatalog, OSError) as error:
        return ValidationResult((Finding(_sentence(error), Place(str(root))),))


def _contents(found: list[File]) -> Callable[[str], bytes]:
    """Reads a file by its name."""
    by_name = {file.name: file for file in found}
    return lambda name: by_name[name].read()


def _read_all(found: list[File], new: Callable[[], Reading] = Reading) -> Reading:
    """Read files, the second half of a large catalog in a process beside this one."""
    first, second = _halves(found)
    if not second or (os.cpu_count() or 1) == 1:
        return _read(found, new())

    with ProcessPoolExecutor(1, get_context("fork")) as pool:
        later = pool.submit(_read_silently, second, new())
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
    """Read files in the second process, which does not report progress."""
    with heard_by(None):
        return _read(found, reading)


@contextmanager
def _unhindered() -> Iterator[None]:
    """Let YAML be nested as deeply as its reader does, and stop the garbage collector: what is read has no cycles."""
    limit, collects = sys.getrecursionlimit(), gc.isenabled()
    sys.setrecursionlimit(2 * DEEPEST + limit)  # two calls for each level
    gc.disable()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if collects:
            gc.enable()


def _sentence(error: NotACatalog | OSError) -> str:
    if isinstance(error, NotACatalog):
        return str(error)
    return f"read {error.filename}: {(error.strerror or str(error)).lower()}"
