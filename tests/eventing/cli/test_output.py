"""Answers as tables, JSON and YAML."""

from __future__ import annotations

import json

import pytest
import yaml
from typer.testing import CliRunner

from eventing.cli.failure import USAGE, CliError
from eventing.cli.main import app
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


def test_a_name_without_end_lengthens_its_own_line_only(capsys: pytest.CaptureFixture[str]) -> None:
    hostile: dict[str, object] = {"name": "x" * 60_000, "says": "no such package"}
    table([ROW, hostile], COLUMNS)
    heading, line, long = capsys.readouterr().out.splitlines()
    assert len(heading) == 100 + len("   SAYS")
    assert line.startswith(f"etcd{' ' * 96}   much")
    assert long == f"{hostile['name']}   no such package", "nothing is cut in a pipe"
    table([ROW, hostile], COLUMNS, screen=150)
    assert {len(one) for one in capsys.readouterr().out.splitlines()[1:]} == {150, 103 + len("no such package")}


def test_json_and_yaml_have_everything(capsys: pytest.CaptureFixture[str]) -> None:
    show([ROW], "json", columns=["name"])
    assert json.loads(capsys.readouterr().out) == [ROW]
    show([ROW], "yaml", columns=["name"])
    assert yaml.safe_load(capsys.readouterr().out) == [ROW]


@pytest.mark.parametrize(
    ("words", "forms"),
    [
        pytest.param(("list",), "table, json or yaml", id="a table"),
        pytest.param(("queue", "dead"), "table, json or yaml", id="a table of a group"),
        pytest.param(("bundle", "images", "nowhere"), "table, json or yaml", id="a table of a file"),
        pytest.param(("explain",), "text, json or yaml", id="a text"),
    ],
)
def test_an_unknown_form_is_refused_before_anything_is_done(words: tuple[str, ...], forms: str) -> None:
    state = () if words[0] == "bundle" else ("--state", "/nowhere")
    error = CliRunner().invoke(app, [*words, "-o", "xml", *state]).exception
    assert isinstance(error, CliError)
    assert (error.code, str(error)) == (USAGE, f"-o xml: wanted {forms}")
