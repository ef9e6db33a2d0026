"""A second process that scans files says the same as the first one would."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.content.snapshot import second_process
from shared.adapters.content.snapshot.scan import Found, Scanner
from shared.domain.catalog.documents import NotACatalog
from tests.kit.catalogs import one

_NAMES = ("cup", "jar", "pot", "tea")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Path]]:
    """Four files of one package each, of which the second process gets the last one or two."""
    monkeypatch.setattr(second_process, "_WORTH_A_PROCESS", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for name in _NAMES:
        (tmp_path / name).write_text("\n".join(json.dumps(document, indent=1) for document in one(name, "1.0.0")))
    return [(name, tmp_path / name) for name in _NAMES]


class Scanned:
    """What came of a scan, and which files this process scanned itself."""

    def __init__(self, files: list[tuple[str, Path]]) -> None:
        self.told: list[tuple[Any, bytes]] = []
        self.here: list[str] = []
        scanner = Scanner(lambda document, line: self.told.append((document, bytes(line))))
        alone = scanner.scan

        def scan(path: str, file: Path) -> list[Found]:
            self.here.append(path)
            return alone(path, file)

        scanner.scan = scan  # type: ignore[method-assign]  # why: counts
        with second_process.scanning(scanner, files) as both:
            self.found = {path: both(path, file) for path, file in files}
        self.is_whole = scanner.observe is not None


def test_the_last_files_are_scanned_by_a_second_process(files: list[tuple[str, Path]]) -> None:
    both = Scanned(files)
    assert both.here == ["cup", "jar"]
    scanner_told: list[tuple[Any, bytes]] = []
    alone = Scanner(lambda *told: scanner_told.append(told))
    assert both.found == {path: alone.scan(path, file) for path, file in files}
    assert both.told == scanner_told
    assert both.is_whole


@pytest.mark.parametrize("what", ["one file", "one processor", "a small catalog", "nobody observes"])
def test_one_process_scans_alone_where_two_would_gain_nothing(
    files: list[tuple[str, Path]], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    if what == "one processor":
        monkeypatch.setattr(os, "cpu_count", lambda: 1)
    if what == "a small catalog":
        monkeypatch.setattr(second_process, "_WORTH_A_PROCESS", 2**20)
    files = files[:1] if what == "one file" else files
    scanner = Scanner(None if what == "nobody observes" else lambda *_: None)
    with second_process.scanning(scanner, files) as scan:
        assert [len(scan(path, file)) for path, file in files] == [3] * len(files)


def test_a_file_that_is_no_catalog_is_told_by_the_first_process(files: list[tuple[str, Path]]) -> None:
    with files[3][1].open("a") as stream:
        stream.write('\n{"name": "x"}')
    with pytest.raises(NotACatalog) as alone:
        Scanner().scan(*files[3])
    with pytest.raises(NotACatalog) as both:
        Scanned(files)
    assert str(both.value) == str(alone.value)


def test_files_that_are_not_json_are_scanned_by_the_first_process(files: list[tuple[str, Path]]) -> None:
    files[3][1].write_text("schema: x")
    both = Scanned(files)
    assert both.here == list(_NAMES)
    assert [found.document.schema for found in both.found["tea"]] == ["x"]
    assert not both.is_whole


@pytest.mark.parametrize("ends", [True, False], ids=["it is killed", "it does not end"])
def test_what_the_second_process_left_is_scanned_by_the_first_one(
    files: list[tuple[str, Path]], monkeypatch: pytest.MonkeyPatch, *, ends: bool
) -> None:
    def ask_nothing(process: subprocess.Popen[bytes], _: object) -> None:
        if ends:
            process.kill()

    monkeypatch.setattr(second_process, "_ask", ask_nothing)
    monkeypatch.setattr(second_process, "_SECONDS", 5.0 if ends else 0.1)
    both = Scanned(files)
    assert both.here == list(_NAMES)
    assert len(both.told) == 3 * len(files)
    assert both.is_whole
