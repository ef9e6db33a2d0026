"""Answers as tables, JSON and YAML."""

from __future__ import annotations

import json

import pytest
import yaml

from eventing.cli.output import show, table

ROW: dict[str, object] = {"name": "etcd", "says": "much " * 100}
COLUMNS = ("name", "says")


def test_a_pipe_gets_everything(capsys: pytest.CaptureFixture[str]) -> None:
    show([ROW], "table", columns=COLUMNS)
    heading, line = capsys.readouterr().out.splitlines()
    assert heading == "NAME   SAYS"
    assert line == f"etcd   {str(ROW['says']).strip()}"


def test_a_heading_shows_the_words_of_its_column(capsys: pytest.CaptureFixture[str]) -> None:
    table([{"nextTry": "soon"}], ("nextTry",))
    assert capsys.readouterr().out == "NEXT TRY\nsoon\n"


@pytest.mark.parametrize(
    ("screen", "want"),
    [
        pytest.param(60, 60, id="the last column fits the width"),
        pytest.param(10, len("etcd   ") + 20, id="but keeps twenty characters"),
    ],
)
def test_a_terminal_gets_what_fits(capsys: pytest.CaptureFixture[str], screen: int, want: int) -> None:
    table([ROW], COLUMNS, screen=screen)
    line = capsys.readouterr().out.splitlines()[1]
    assert len(line) == want
    assert line.endswith("…")


def test_json_and_yaml_have_everything(capsys: pytest.CaptureFixture[str]) -> None:
    show([ROW], "json", columns=["name"])
    assert json.loads(capsys.readouterr().out) == [ROW]
    show([ROW], "yaml", columns=["name"])
    assert yaml.safe_load(capsys.readouterr().out) == [ROW]
