"""Nothing stays that only tests call, and the check that says so bites."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture.callers import Tree, roots, trees


def test_everything_has_a_caller() -> None:
    modules = trees(Path(__file__).parents[2])
    assert Tree(modules).unused(roots(modules)) == []


STEP = "from shared import rules\ndef step():\n    return rules.used()\n"


@pytest.mark.parametrize(
    ("rules", "step", "want"),
    [
        pytest.param("def used(): ...\n", STEP, [], id="a step uses it"),
        pytest.param("def used(): ...\ndef idle(): ...\n", STEP, ["shared.rules.idle"], id="nobody uses it"),
        pytest.param("def used(): other()\ndef other(): ...\n", STEP, [], id="what is used uses it"),
        pytest.param(
            "def used(): ...\ndef a(): b()\ndef b(): a()\n", STEP, ["shared.rules.a", "shared.rules.b"],
            id="two use each other",
        ),
        pytest.param(
            "def used(): ...\nidle = 1\n", f"from shared.rules import idle\n{STEP}", ["shared.rules.idle"],
            id="it is imported and not used",
        ),
        pytest.param(
            'def used(): """See shared.rules.idle."""\ndef idle(): ...\n', STEP, ["shared.rules.idle"],
            id="documentation names it",
        ),
        pytest.param("def used(): ...\ndef other(): ...\n", f"{STEP}\n    load('shared.rules.other')\n", [],
                     id="it is loaded by name"),
        pytest.param("def used(): ...\ndef other(): ...\n", f"{STEP}\n    use(rules)\n", [],
                     id="its module is passed on"),
        pytest.param("def mark(f): ...\n@mark\ndef used(): ...\n", STEP, [], id="it decorates"),
    ],
)  # fmt: skip
def test_the_check_bites(rules: str, step: str, want: list[str]) -> None:
    modules = {"shared": "", "shared.rules": rules, "functions": "", "functions.g": "", "functions.g.step": step}
    parsed = {name: ast.parse(text) for name, text in modules.items()}
    assert Tree(parsed).unused(roots(parsed)) == want
