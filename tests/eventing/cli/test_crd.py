"""`olmf crd diff`: files and folders, stored objects, waivers, and reports for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.main import app


def run(*words: object, lines: str = "") -> Result:
    return CliRunner().invoke(app, ["crd", "diff", *map(str, words)], input=lines)


def refused(code: int, sentence: str, *words: object) -> None:
    failure = run(*words).exception
    assert isinstance(failure, CliError)
    assert (failure.code, sentence in str(failure)) == (code, True), failure


def a_crd(**spec: object) -> dict[str, Any]:
    root = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}
    version = {"name": "v1", "served": True, "schema": {"openAPIV3Schema": root}}
    body = {"group": "acme.io", "names": {"kind": "Mouse", "plural": "mice"}, "versions": [version]}
    return {"kind": "CustomResourceDefinition", "metadata": {"name": "mice.acme.io"}, "spec": body}


def written(path: Path, *documents: object) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump_all(documents))
    return path


@pytest.fixture
def editions(tmp_path: Path) -> tuple[Path, Path]:
    old = written(tmp_path / "old.yaml", a_crd(tail={"type": "integer"}))
    new = written(tmp_path / "new" / "crd.yaml", a_crd(tail={"type": "integer", "maximum": 3}))
    return old, new.parent


def a_mouse(name: str, tail: int) -> dict[str, Any]:
    meta = {"name": name, "namespace": "barn"}
    return {"apiVersion": "acme.io/v1", "kind": "Mouse", "metadata": meta, "spec": {"tail": tail}}


def test_files_and_folders_are_compared(editions: tuple[Path, Path]) -> None:
    reported = run(*editions)
    assert reported.exit_code == NEGATIVE
    assert "^.spec.tail: maximum: maximum constraint added when there was none previously : 3" in reported.output
    assert run(editions[0], editions[0]).output == "mice.acme.io: safe\n"


def test_stored_objects_decide_where_the_change_itself_is_waived(editions: tuple[Path, Path], tmp_path: Path) -> None:
    words = (*editions, "--waive", "v1: ^.spec.tail: maximum", "--objects")
    assert run(*words, written(tmp_path / "short.yaml", a_mouse("short", 2))).exit_code == 0
    reported = run(*words, written(tmp_path / "long.yaml", {"kind": "List", "items": [a_mouse("long", 5)]}))
    assert reported.exit_code == NEGATIVE
    assert "storedObject: barn/long: Invalid value: 5: spec.tail in body should be less than" in reported.output
    assert "does not count: v1: ^.spec.tail: maximum" in reported.output


def test_reports_for_programs(editions: tuple[Path, Path]) -> None:
    [definition] = json.loads(run(*editions, "-o", "json").output)
    assert [finding["path"] for finding in definition["findings"]] == ["^.spec.tail"]
    assert yaml.safe_load(run(*editions, "-o", "yaml").output) == [definition]
    [result] = json.loads(run(*editions, "-o", "sarif").output)["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location["uri"].endswith("/new/crd.yaml")


def test_what_only_one_side_has_is_named(editions: tuple[Path, Path], tmp_path: Path) -> None:
    other = {**a_crd(), "metadata": {"name": "cats.acme.io"}}
    both, alone = written(tmp_path / "both.yaml", a_crd(), other), written(tmp_path / "alone.yaml", other)
    reported = run(both, editions[1], "--waive", "maximum")
    assert reported.exit_code == NEGATIVE
    assert f"cats.acme.io is only in {both}" in reported.stderr
    assert "cats.acme.io: unsafe\n  definitionRemoval: the definition is gone, and all its objects" in reported.stdout
    assert run(both, editions[1], "--waive", "maximum", "--waive", "definitionRemoval").exit_code == 0
    assert run(editions[0], written(tmp_path / "more.yaml", a_crd(tail={"type": "integer"}), other)).exit_code == 0
    refused(USAGE, "have no CustomResourceDefinition in common", alone, editions[1])


def test_what_cannot_be_compared(editions: tuple[Path, Path], tmp_path: Path) -> None:
    odd = written(tmp_path / "odd.yaml", {**a_crd(), "spec": {"versions": 5}})
    refused(USAGE, "give OLD NEW", editions[0])
    refused(USAGE, "there is no check 'typo'", *editions, "--waive", "typo")
    refused(USAGE, "holds no CustomResourceDefinition", written(tmp_path / "none.yaml", a_mouse("x", 1)), editions[1])
    refused(USAGE, "No such file", editions[0], tmp_path / "nowhere.yaml")
    refused(UNKNOWN, "mice.acme.io cannot be compared: new: json: cannot unmarshal", editions[0], odd)


def test_a_bad_line_is_answered_and_spoils_no_other() -> None:
    deep = '{"old": ' + "[" * 100_000
    bad = ["{", "5", '{"old": NaN}', '{"old": 1e999}', deep, '{"id": "\\ud800", "old": 5}', '{"id": 1, "old": {}}']
    good = json.dumps({"id": 2, "old": a_crd(), "new": a_crd()})
    answers = [json.loads(line) for line in run("--batch", lines="\n".join([*bad, good])).output.splitlines()]
    assert [answer.get("id") for answer in answers] == [None] * 5 + ["\ud800", 1, 2]
    assert ["error" in answer for answer in answers] == [True] * len(bad) + [False]
