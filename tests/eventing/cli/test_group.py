"""Verbs that are imported when somebody asks for them."""

from __future__ import annotations

import importlib
import subprocess
import sys
from inspect import cleandoc

import pytest
import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group
from typer.testing import CliRunner

from eventing.cli.failure import USAGE, CliError
from eventing.cli.group import Verbs
from eventing.cli.main import app


def groups() -> dict[str, Verbs]:
    """The command, and each group below it that imports its verbs late."""
    olmf = get_command(app)
    assert isinstance(olmf, Verbs)
    below = {name: olmf.get_command(None, name) for name in olmf.list_commands(None)}
    return {"olmf": olmf} | {name: group for name, group in below.items() if isinstance(group, Verbs)}


@pytest.mark.parametrize("name", groups())
def test_each_module_registers_the_verbs_that_its_group_reports_it_has(name: str) -> None:
    for module, verbs in groups()[name].modules.items():
        own = typer.Typer()
        importlib.import_module(module).register(own)
        registered = get_group(own).commands
        assert set(registered) == set(verbs), module
        reported = {
            verb: " ".join(cleandoc(one.help or "").partition("\n\n")[0].split()) for verb, one in registered.items()
        }
        assert reported == verbs


def loaded_by(*words: str) -> set[str]:
    """What a command line imports."""
    script = "import sys; from eventing.cli.main import main\ntry: main()\nexcept SystemExit: pass\nprint(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=True).stdout
    return set(printed.splitlines()[-1].split())


def test_help_imports_no_verb() -> None:
    loaded = loaded_by("--help")
    assert not {module for module in groups()["olmf"].modules if module in loaded}


def test_a_verb_imports_itself_alone() -> None:
    loaded = loaded_by("semver", "--help")
    assert "eventing.cli.semver" in loaded
    assert not {"eventing.cli.catalog.verbs", "eventing.cli.bundle.verbs", "eventing.cli.local"} & loaded
    others = {"eventing.cli.catalog.render", "eventing.cli.bundle", "eventing.cli.local"}
    assert not others & loaded_by("catalog", "validate", "--help")


@pytest.mark.parametrize("name", groups())
def test_help_lists_the_verbs_as_it_would_if_it_imported_them(name: str) -> None:
    group = groups()[name]
    context = typer.Context(group)
    found, desired = context.make_formatter(), context.make_formatter()
    group.format_commands(context, found)
    TyperGroup.format_commands(group, context, desired)
    assert found.getvalue() == desired.getvalue()


@pytest.mark.parametrize(
    ("words", "name"),
    [
        pytest.param(["ctalog"], "catalog", id="a verb"),
        pytest.param(["catalog", "vlidate"], "validate", id="a verb of a group"),
    ],
)
def test_an_unknown_verb_learns_which_ones_are_alike(words: list[str], name: str) -> None:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert f"Did you mean '{name}'?" in done.output


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--state", "DIR", "up", "--detach"], "olmf up --detach --state DIR"),
        (["--state=DIR", "list"], "olmf list --state=DIR"),
        (["-n", "demo", "install", "tide"], "olmf install tide -n demo"),
        (["--detach", "up"], "olmf up --detach"),
    ],
)
def test_an_option_before_its_verb_is_reported_with_the_line_that_works(words: list[str], line: str) -> None:
    error = CliRunner().invoke(app, words).exception
    assert isinstance(error, CliError)
    option = words[0].partition("=")[0]
    assert (error.code, str(error)) == (USAGE, f"{option} is an option of the verb, and stands behind it: `{line}`")


@pytest.mark.parametrize(
    "words",
    [
        ["--nonsense"],
        ["--nonsense", "list"],
        ["-n", "plan"],
        ["--", "semver", "--help"],
        ["--version", "list"],
        ["semver", "--help"],
    ],
)
def test_other_words_are_read_as_ever(words: list[str]) -> None:
    assert not isinstance(CliRunner().invoke(app, words).exception, CliError)
