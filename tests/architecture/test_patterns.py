"""No group is repeated possessively: before Python 3.11.5 `re` goes on from where the last repetition failed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.parsed import nodes, syntax
from tests.architecture.words import modules

ROOT = Path(__file__).parents[2]
_POSSESSIVE = re.compile(r"\(\?:(?!\\\\\.\[)[^()]*(?:\([^()]*\)[^()]*)*\)[*+?]\+")
"""But for an escape with what follows it, which fails at the end of a text alone."""


def possessive_groups(source: str) -> list[int]:
    """The lines of patterns with such a group."""
    texts = (node for node in nodes(syntax(source)) if isinstance(node, ast.Constant))
    found = ((node.lineno, node.value) for node in texts if isinstance(node.value, str | bytes))
    return [
        line for line, text in found if _POSSESSIVE.search(text if isinstance(text, str) else text.decode("latin1"))
    ]


def test_a_group_is_not_repeated_possessively() -> None:
    found = [(path, possessive_groups(source)) for path, source in modules(ROOT, ("eventing", "functions", "shared"))]
    assert [(path, lines) for path, lines in found if lines] == []


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        pytest.param(r"a(?:[.]b)*+", [1], id="it may fail after the point"),
        pytest.param(r"a(?:(?:b|c)[.])++", [1], id="nested"),
        pytest.param(r"a(?:[.]b)*", [], id="it goes back"),
        pytest.param(r"[a-z]*+(a)", [], id="no group"),
    ],
)
def test_the_check_bites(pattern: str, lines: list[int]) -> None:
    assert possessive_groups(f"A = {pattern!r}") == lines
