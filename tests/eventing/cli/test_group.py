"""Verbs that are imported when somebody asks for them."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest
import typer
from typer.main import get_command, get_group
from typer.testing import CliRunner

from eventing.cli.group import Verbs
from eventing.cli.main import app


def groups() -> dict[str, Verbs]:
    """The command, and each group below it that imports its verbs late."""
    olmf = get_command(app)
    assert isinstance(olmf, Verbs)
    below = {name: olmf.get_command(None, name) for name in olmf.list_commands(None)}
    return {"olmf": olmf} | {name: group for name, group in below.items() if isinstance(group, Verbs)}


@pytest.mark.parametrize("name", groups())
def test_each_module_registers_the_verbs_that_its_group_says_it_has(name: str) -> None:
    for module, verbs in groups()[name].modules.items():
        own = typer.Typer()
        importlib.import_module(module).register(own)
        assert set(get_group(own).commands) == set(verbs), module


def test_a_verb_does_not_import_its_neighbours() -> None:
    script = "import sys; from eventing.cli.main import main\ntry: main()\nexcept SystemExit: pass\nprint(*sys.modules)"
    words = [sys.executable, "-c", script, "catalog", "validate", "--help"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    loaded = said.splitlines()[-1].split()
    assert "eventing.cli.catalog.validate" in loaded
    assert not {"eventing.cli.catalog.render", "eventing.cli.bundle", "eventing.cli.local"} & set(loaded)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        pytest.param(["ctalog"], "catalog", id="a verb"),
        pytest.param(["catalog", "vlidate"], "validate", id="a verb of a group"),
    ],
)
def test_an_unknown_verb_is_told_which_ones_are_alike(words: list[str], name: str) -> None:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert f"Did you mean '{name}'?" in done.output
