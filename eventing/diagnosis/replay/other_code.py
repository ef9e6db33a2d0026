"""Decides a capture with the code of another folder or git revision, in a process of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

import eventing

_PACKAGES = ("functions", "shared", "eventing")
_SECONDS = 60
"""Limit of a git command."""
_DRIVER = """
import json, sys
from pathlib import Path
from eventing.diagnosis.replay import replay
for each in replay(Path(sys.argv[1]), only=sys.argv[2]).replayed:
    run = each.run
    row = {"id": run.id, "step": run.step, "ref": run.ref, "result": each.result, "detail": each.detail}
    print(json.dumps(row))
"""


class NoSuchCode(ValueError):
    """There is no code of that name, or it cannot decide captures."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What other code makes of one recorded decision."""

    id: str
    step: str
    ref: str
    result: Literal["same", "different", "skipped"]
    detail: str = ""


@contextmanager
def tree_of(code: str) -> Iterator[Path]:
    """The folder with the code: a folder, or what git has of a revision of ours. NoSuchCode."""
    folder = Path(code)
    if folder.is_dir():
        if not all((folder / package).is_dir() for package in _PACKAGES):
            raise NoSuchCode(f"{code}: no folder of this project: it lacks {', '.join(_PACKAGES)}")
        yield folder.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="olmf-code-") as made:
        with tarfile.open(fileobj=io.BytesIO(_archive(code))) as tar:
            tar.extractall(made, filter="data")
        yield Path(made)


def _archive(revision: str) -> bytes:
    ours = Path(eventing.__file__).parents[1]
    command = ["git", "-C", str(ours), "archive", "--end-of-options", revision, *_PACKAGES]
    try:
        return subprocess.run(command, capture_output=True, check=True, timeout=_SECONDS).stdout
    except FileNotFoundError as error:
        raise NoSuchCode(f"{code_is(revision)}: git is not installed") from error
    except subprocess.CalledProcessError as error:
        raise NoSuchCode(f"{code_is(revision)}: {error.stderr.decode(errors='replace').strip()}") from error


def code_is(revision: str) -> str:
    """How a message names what is no folder."""
    return f"{revision}: no folder, and no revision of {Path(eventing.__file__).parents[1]}"


def decided(tree: Path, capture: Path, only: str = "") -> Iterator[Verdict]:
    """Each decision of a capture as the code in `tree` makes it. NoSuchCode when it fails."""
    command = [sys.executable, "-c", _DRIVER, str(capture.resolve()), only]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=False)
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise NoSuchCode(f"{tree} cannot decide {capture}: {''.join(last)}")
    yield from (msgspec.json.decode(line, type=Verdict) for line in done.stdout.splitlines())
