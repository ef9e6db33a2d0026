"""Manifests in files, as verbs are given them: one or a list, as YAML or JSON, in files, folders or on stdin."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from eventing.cli.failure import UNKNOWN, USAGE, CliError
from shared.domain.bundle.shape import defect
from shared.domain.go.stream import parts


def manifests(paths: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Every object of files and folders, those in lists one by one. CliError."""
    return (one for _, one in located(paths))


def located(paths: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The same, each with the file that it is in."""
    for path in paths:
        for name, content in _contents(path):
            for part in parts(content):
                if part.error or not isinstance(part.value, dict | None):
                    raise CliError(f"{name}, document {part.number}: {part.error or 'it is no object'}", UNKNOWN)
                for one in _flat(part.value or {}):
                    if wrong := defect(one):
                        raise CliError(f"{name}, document {part.number}: {wrong}", UNKNOWN)
                    yield name, one


def _contents(path: str) -> Iterator[tuple[str, bytes]]:
    if path == "-":
        yield "stdin", sys.stdin.buffer.read()
        return
    try:
        files = [Path(path)]
        if files[0].is_dir():
            files = sorted(one for one in files[0].rglob("*") if one.suffix in (".yaml", ".yml", ".json"))
        yield from ((str(file), file.read_bytes()) for file in files)
    except OSError as error:
        code = USAGE if isinstance(error, FileNotFoundError) else UNKNOWN
        raise CliError(f"{path}: {error.strerror}", code) from error


def _flat(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    items = value.get("items")
    if str(value.get("kind") or "").endswith("List") and isinstance(items, list):
        yield from (one for item in items if isinstance(item, dict) for one in _flat(item))
    elif value:
        yield value


def at(value: Any, *path: str) -> Any:  # why: any JSON value
    """What is at a path of a manifest that may have any shape; None when there is nothing."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
