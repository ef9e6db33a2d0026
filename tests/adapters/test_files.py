"""Catalogs in folders and files: what is read, and in which order."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from shared.adapters import files
from shared.adapters.files import opened
from shared.adapters.image_writer import write_image
from shared.adapters.judging import judge
from shared.domain.bundle.annotations import CONFIGS
from tests.kit.fbc import a_bundle, a_channel, a_package, written


def put(root: Path, **contents: str) -> Path:
    """Write files; `__` in a name stands for a slash, `_` for a dot."""
    for name, content in contents.items():
        path = root / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


def names(root: Path) -> list[str]:
    with opened(str(root)) as found:
        return [file.name for file in found]


SOUND = written(a_package(), a_channel(), a_bundle()).decode()
BROKEN = "schema: 5"


def test_fbc_md_r002_a_folder_that_is_not_there(tmp_path: Path) -> None:
    (finding,) = judge(str(tmp_path / "nothing")).findings
    assert finding.message == f"read {tmp_path / 'nothing'}: no such file or directory"


def test_fbc_md_r003_an_empty_folder_is_a_catalog(tmp_path: Path) -> None:
    assert judge(str(tmp_path)).is_valid


def test_fbc_md_r012_only_what_is_not_ignored_is_read(tmp_path: Path) -> None:
    put(tmp_path, _indexignore="*\n!*.json\n!*.yaml\n*.clusterserviceversion.yaml", README_md="# Read me")
    put(tmp_path, a__index_yaml="schema: a", a__x_clusterserviceversion_yaml=BROKEN, b_json='{"schema":"b"}')
    assert names(tmp_path) == ["a/index.yaml", "b.json"]
    assert judge(str(tmp_path)).is_valid


def test_patterns_without_end_are_not_read(tmp_path: Path) -> None:
    put(tmp_path, _indexignore="*a" * 200_000, a_json=SOUND)
    (finding,) = judge(str(tmp_path)).findings
    assert "more than 262144 bytes of patterns in files named .indexignore" in finding.message


def test_not_every_number_of_patterns_is_compared_with_every_number_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, _indexignore="b\nc*\n", a_json=SOUND)
    assert judge(str(tmp_path)).is_valid
    monkeypatch.setattr(files, "_COMPARISONS", 3)
    (finding,) = judge(str(tmp_path)).findings
    assert finding.message == "2 patterns in files named .indexignore for 2 files"


def test_fbc_md_r013_every_broken_file_is_reported(tmp_path: Path) -> None:
    put(tmp_path, a_yaml=SOUND, b_yaml=BROKEN, c__d_yaml=f"schema: a\n---\n{BROKEN}")
    places = [str(one.place) for one in judge(str(tmp_path)).findings]
    assert places == ["b.yaml, document 1, line 1", "c/d.yaml, document 2, line 3"]


def test_files_are_read_folder_by_folder_in_order_of_names(tmp_path: Path) -> None:
    put(tmp_path, b_json="", a__z_json="", a__b__c_json="", a_json="", _hidden="")
    assert names(tmp_path) == [".hidden", "a/b/c.json", "a/z.json", "a.json", "b.json"]


def test_a_file_is_a_catalog_of_its_own(tmp_path: Path) -> None:
    put(tmp_path, a_yaml=BROKEN, b_yaml=SOUND)
    assert judge(str(tmp_path / "b.yaml")).is_valid
    assert judge(str(tmp_path / "a.yaml")).findings[0].place.file == "a.yaml"


def test_fbc_md_r050_links_to_files_are_followed(tmp_path: Path) -> None:
    put(tmp_path, one__a_json=SOUND)
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "b.json").symlink_to(tmp_path / "one" / "a.json")
    assert judge(str(tmp_path / "two")).is_valid
    (tmp_path / "two" / "c.json").symlink_to(tmp_path / "gone")
    (finding,) = judge(str(tmp_path / "two")).findings
    assert finding.message == f"read {tmp_path / 'two' / 'c.json'}: no such file or directory"


def test_fbc_md_r051_a_mounted_volume_is_read_once(tmp_path: Path) -> None:
    put(tmp_path, **{"..2026_11__catalog_json": SOUND})
    (tmp_path / "..data").symlink_to("..2026.11")
    (tmp_path / "catalog.json").symlink_to("..data/catalog.json")
    assert names(tmp_path) == ["catalog.json"]
    assert judge(str(tmp_path)).is_valid


def test_linked_folders_are_entered_once(tmp_path: Path) -> None:
    put(tmp_path, a__c_json=SOUND)
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert names(tmp_path) == ["a/c.json"]


def test_fbc_md_r052_what_is_no_part_of_a_catalog_has_to_be_ignored(tmp_path: Path) -> None:
    put(tmp_path, _git__config="[core]", a_json=SOUND)
    assert [one.place.file for one in judge(str(tmp_path)).findings] == [".git/config"]
    put(tmp_path, _indexignore=".git")
    assert judge(str(tmp_path)).is_valid


def test_folders_may_not_be_in_each_other_without_end(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 300)
    deep.mkdir(parents=True)
    (finding,) = judge(str(tmp_path)).findings
    assert "more than 200 folders in each other" in finding.message
    assert finding.message.startswith(f"read {str(tmp_path)[:20]}")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (finding,) = judge(str(tmp_path)).findings
    assert finding.message == f"read {tmp_path / 'pipe'}: a pipe, not a file"


def test_names_that_are_no_text_are_shown_all_the_same(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"a\xff.yaml")).write_text(BROKEN)
    assert judge(str(tmp_path)).findings[0].place.file == "a\ufffd.yaml"


def test_stdin_is_a_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BROKEN.encode())))
    (finding,) = judge("-").findings
    assert str(finding.place) == "-, document 1, line 1"


def test_stdin_may_not_be_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_STDIN_BYTES", 10)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * 11)))
    (finding,) = judge("-").findings
    assert finding.message == "read -: more than 10 bytes"


def test_a_folder_that_is_an_oci_layout_is_an_image(tmp_path: Path) -> None:
    put(tmp_path, a_json=SOUND, b_yaml=BROKEN)
    target = f"oci:{tmp_path / 'layout'}"
    write_image({"configs/a.json": tmp_path / "a.json"}, {CONFIGS: "/configs"}, target)
    assert names(tmp_path / "layout") == ["a.json"]
    assert judge(str(tmp_path / "layout")).is_valid
    assert judge(target).is_valid


def test_a_large_file_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MAPPED_FROM", 10)
    put(tmp_path, a_json=SOUND, b_yaml=BROKEN)
    assert [str(one.place) for one in judge(str(tmp_path)).findings] == ["b.yaml, document 1, line 1"]
    (tmp_path / "b.yaml").unlink()
    assert judge(str(tmp_path)).is_valid
