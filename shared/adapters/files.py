"""Catalogs in folders, files and streams: which files they have, and what is wrong with them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from shared.domain.catalog import ignore
from shared.domain.catalog.judge import Reading
from shared.domain.catalog.verdict import Verdict


def judge(path: str) -> Verdict:
    """Judge the catalog in a folder, a file, or on stdin (`-`)."""
    reading = Reading()
    for name, content in contents(path):
        reading.add_file(name, content)
    return reading.verdict()


def contents(path: str) -> Iterator[tuple[str, bytes]]:
    """The files of a catalog by name, in order, one at a time."""
    if path == "-":
        yield "-", sys.stdin.buffer.read()
        return
    root = Path(path)
    if not root.is_dir():
        yield root.name, root.read_bytes()
        return
    for name in names(root):
        yield name, (root / name).read_bytes()


def names(root: Path) -> list[str]:
    """The files of a folder that belong to its catalog, in the order in which they are read."""
    found = sorted(_walk(root, ""), key=lambda name: name.split("/"))
    lists = [name for name in found if name.rpartition("/")[2] == ignore.NAME]
    rules = ignore.IgnoreRules.parse({name: (root / name).read_text("utf-8", "replace") for name in lists})
    return [name for name in found if not rules.is_ignored(name)]


def _walk(folder: Path, prefix: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = prefix + entry.name
            if entry.is_dir():
                yield from _walk(Path(entry.path), f"{name}/")
            else:
                yield name
