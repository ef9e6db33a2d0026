"""Runs the decisions of a capture with the code of another folder or git revision, in a process of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Literal, cast

import msgspec

import eventing

_PACKAGES = ("functions", "shared", "eventing")
_SECONDS = 60
"""Limit of a git command."""
DECISION_SECONDS = 60.0
"""Time limit of the other code for one decision, and for its start."""
_DRIVER = """
import inspect, json, os, sys
from pathlib import Path
rows = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
from eventing.diagnosis.replay import replay

def write_row(each):
    run = each.run
    row = {"id": run.id, "step": run.step, "ref": run.ref, "result": each.result, "detail": each.detail}
    print(json.dumps(row), file=rows)
    return True

path, only = Path(sys.argv[1]), sys.argv[2]
if "on_each" in inspect.signature(replay).parameters:
    replay(path, only=only, on_each=write_row)
else:
    list(map(write_row, replay(path, only=only).replayed))
"""
"""Whatever that code prints goes to stderr."""


class NoSuchCode(ValueError):
    """There is no code of that name, or it cannot decide captures."""


@dataclass(frozen=True, slots=True)
class OtherDecision:
    """One recorded decision, compared with that of other code."""

    id: str
    step: str
    ref: str
    result: Literal["same", "different", "skipped"]
    detail: str = ""


@contextmanager
def tree_of(code: str) -> Iterator[Path]:
    """The folder with the code: a folder, or an archive of a git revision of this project. NoSuchCode."""
    folder = Path(code)
    if folder.is_dir():
        if not all((folder / package).is_dir() for package in _PACKAGES):
            raise NoSuchCode(f"{code}: no folder of this project: it lacks {', '.join(_PACKAGES)}")
        yield folder.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="olmf-code-") as made:
        with tarfile.open(fileobj=io.BytesIO(_archive(code))) as tar:
            tar.extraction_filter = getattr(tarfile, "data_filter", None)  # why: Python 3.11.2 has none
            tar.extractall(made)  # noqa: S202  # why: the filter is set
        yield Path(made)


def _archive(revision: str) -> bytes:
    ours = Path(eventing.__file__).parents[1]
    command = ["git", "-C", str(ours), "archive", "--end-of-options", revision, *_PACKAGES]
    try:
        return subprocess.run(command, capture_output=True, check=True, timeout=_SECONDS).stdout
    except FileNotFoundError as error:
        raise NoSuchCode(f"{code_is(revision)}: git is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise NoSuchCode(f"{code_is(revision)}: git did not answer within {_SECONDS} s") from error
    except subprocess.CalledProcessError as error:
        raise NoSuchCode(f"{code_is(revision)}: {error.stderr.decode(errors='replace').strip()}") from error


def code_is(revision: str) -> str:
    """The start of a message about code that was not found."""
    return f"{revision}: no folder, and no revision of {Path(eventing.__file__).parents[1]}"


def decided(tree: Path, capture: Path, only: str = "", *, seconds: float = DECISION_SECONDS) -> Iterator[OtherDecision]:
    """Each decision of a capture, made by the code in `tree`, one by one. NoSuchCode when it fails.

    `seconds` limits each of them.
    """
    command = [sys.executable, "-c", _DRIVER, str(capture.resolve()), only]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    with (
        tempfile.TemporaryFile() as stderr,
        _ended(subprocess.Popen(command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=stderr)) as process,
    ):
        lines = _lines_of(process)
        while (line := _next(lines, seconds)) is not None:
            if line is _LATE:
                raise NoSuchCode(f"{tree} cannot decide {capture}: nothing came for {seconds:.0f} s")
            yield msgspec.json.decode(line, type=OtherDecision)
        if process.wait():
            stderr.seek(0)
            last = stderr.read().decode(errors="replace").strip().splitlines()[-1:]
            why = "".join(last) or f"it ended with {process.returncode}"
            raise NoSuchCode(f"{tree} cannot decide {capture}: {why}")


_LATE = b""


def _lines_of(process: subprocess.Popen[bytes]) -> SimpleQueue[bytes | None]:
    """What it prints, line by line; None at the end."""
    lines: SimpleQueue[bytes | None] = SimpleQueue()
    stream = cast("IO[bytes]", process.stdout)

    def read() -> None:
        with stream:
            for line in stream:
                lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def _next(lines: SimpleQueue[bytes | None], seconds: float) -> bytes | None:
    try:
        return lines.get(timeout=seconds)
    except Empty:
        return _LATE


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is ended after the block."""
    try:
        yield process
    finally:
        process.kill()
        process.wait()
