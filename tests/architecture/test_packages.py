"""An `__init__` defines nothing: it describes its package, and may pass on names of its modules."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture.parsed import TOPS, syntax

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(path for top in TOPS for path in (ROOT / top).rglob("__init__.py"))


def definitions(source: str) -> list[str]:
    """What a module defines: functions, classes, and values other than `__all__`."""
    found = []
    for node in syntax(source).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.append(name)
            case ast.Assign(targets=targets):
                found += [ast.unparse(one) for one in targets]
            case ast.AnnAssign(target=target):
                found.append(ast.unparse(target))
    return [name for name in found if name != "__all__"]


def test_a_package_defines_nothing_itself() -> None:
    assert {path.parent.name: found for path in PACKAGES if (found := definitions(path.read_text()))} == {}


@pytest.mark.parametrize(
    ("source", "want"),
    [
        pytest.param('"""Doc."""\nfrom a import b\n__all__ = ["b"]', [], id="names that are passed on"),
        pytest.param("def f(): ...\nclass C: ...\nasync def g(): ...", ["f", "C", "g"], id="functions and classes"),
        pytest.param("X = 1\ny: int = 2", ["X", "y"], id="values"),
    ],
)
def test_the_check_bites(source: str, want: list[str]) -> None:
    assert definitions(source) == want
