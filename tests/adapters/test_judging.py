"""Catalogs in folders: what is found in large ones, what advice there is, and what is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.adapters import judging
from shared.adapters.judging import advise, compared, judge
from shared.domain.catalog.documents import NotACatalog
from tests.kit.fbc import a_bundle, a_channel, a_package, written

SOUND = written(a_package(), a_channel(), a_bundle())
BROKEN = "schema: 5"


def test_two_processes_find_what_one_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        (tmp_path / f"f{number}.yaml").write_text(f"schema: a\nx: {'x' * 1000}\n---\n{BROKEN}")
    alone = judge(str(tmp_path))
    monkeypatch.setattr(judging, "_WORTH_A_PROCESS", 10)
    assert judge(str(tmp_path)) == alone
    assert [one.place.file for one in alone.findings] == [f"f{number}.yaml" for number in range(6)]


def test_advice_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(SOUND)
    assert [(one.rule, one.place.line > 1) for one in advise(str(tmp_path))] == [("unpinned-image", True)]


def test_advice_of_two_processes_is_that_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two", "three"):
        texts = a_package(name), a_channel(package=name), a_bundle(package=name)
        (tmp_path / f"{name}.json").write_bytes(written(*texts))
    alone = advise(str(tmp_path))
    monkeypatch.setattr(judging, "_WORTH_A_PROCESS", 10)
    assert advise(str(tmp_path)) == alone
    assert [one.place.file for one in alone] == ["one.json", "three.json", "two.json"]


def test_there_is_no_advice_about_a_catalog_that_is_not_valid(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(SOUND)
    (tmp_path / "b.json").write_bytes(SOUND)
    with pytest.raises(
        NotACatalog,
        match=r'is no valid catalog: duplicate package "foo" \(b.json, document 1, line 1\); `olmf catalog validate',
    ):
        advise(str(tmp_path))


def test_a_valid_catalog_for_a_comparison(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(SOUND)
    found = compared(str(tmp_path))
    assert (list(found.packages), list(found.statements)) == (["foo"], [("foo", "foo.v0.1.0")])
    (tmp_path / "b.json").write_bytes(SOUND)
    with pytest.raises(
        NotACatalog,
        match=r'is no valid catalog: duplicate package "foo" \(b.json, document 1, line 1\); `olmf catalog validate',
    ):
        compared(str(tmp_path))
