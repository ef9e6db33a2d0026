"""No group is repeated possessively: before Python 3.11.5 `re` goes on from where the last repetition failed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.parsed import nodes, syntax
from tests.architecture.words import modules

ROOT = Path(__file__).parents[2]
_POSSESSIVE = re.compile(r"(?<![\\(])\)[*+?]\+")
"""Its end, as an f-string has its beginning in another constant."""
ESCAPES = r'(?:\\.[^"\\]*+)*+'
"""A backslash with what follows it fails at the end of a text alone, where nothing is left to go on with."""


def possessive_groups(source: str) -> list[int]:
    """The lines of texts with such a group."""
    texts = (node for node in nodes(syntax(source)) if isinstance(node, ast.Constant))
    found = ((node.lineno, _text(node.value)) for node in texts if isinstance(node.value, str | bytes))
    return [line for line, text in found if _POSSESSIVE.search(text.replace(ESCAPES, ""))]


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin1")


def test_a_group_is_not_repeated_possessively() -> None:
    found = [(path, possessive_groups(source)) for path, source in modules(ROOT, ("eventing", "functions", "shared"))]
    assert [(path, lines) for path, lines in found if lines] == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        pytest.param(r"A = r'a(?:[.]b)*+'", [1], id="it may fail after the point"),
        pytest.param(r"A = rb'a([.]b)++'", [1], id="bytes"),
        pytest.param("B = 1\nA = rf'{B}(?:[.]{B})?+c'", [2], id="with parts of its own"),
        pytest.param(r"A = r'a(?:[.]b)*'", [], id="it goes back"),
        pytest.param(r"A = r'[a-z]*+(a)\)++'", [], id="no group"),
        pytest.param("A = r'[()*+,]'", [], id="characters"),
        pytest.param(rf"A = r'{ESCAPES}'", [], id="escapes"),
    ],
)
def test_the_check_bites(source: str, lines: list[int]) -> None:
    assert possessive_groups(source) == lines
