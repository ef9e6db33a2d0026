"""Tables that say which test shows which row of the contract: the tests they name are there, every row has an answer.

A table is Markdown: `| row | what | shown by |`. `shown by` names tests as `path/below/tests.py::test_function`, comma
separated, or begins with a dash and says why there is none.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
TABLES = sorted([*TESTS.rglob("ROWS_*.md"), *TESTS.rglob("COVERAGE*.md")])
_TEST = re.compile(r"([\w/.-]+\.py)::(\w+)")
_HEADING = ("row", "what", "shown by")


def faults(text: str, root: Path = TESTS) -> list[str]:
    """What is wrong with the tables of a page, a sentence each."""
    found = [
        f"there is no test {path}::{name}" for path, name in _TEST.findall(text) if not _is_there(root, path, name)
    ]
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells or tuple(cells) == _HEADING or set("".join(cells)) <= {"-", ":"}:
            continue
        if len(cells) != len(_HEADING):
            found.append(f"row {cells[0]} has {len(cells)} cells, not {len(_HEADING)}")
        elif not _TEST.search(cells[-1]) and not re.match(r"— \w+", cells[-1]):
            found.append(f"row {cells[0]} names neither a test nor a reason")
    return found


def _is_there(root: Path, path: str, name: str) -> bool:
    return name in _functions(root / path.removeprefix("tests/"))


@cache
def _functions(path: Path) -> frozenset[str]:
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.name)
def test_a_table_tells_the_truth(table: Path) -> None:
    assert faults(table.read_text()) == []


_HERE = "architecture/test_row_tables.py"


@pytest.mark.parametrize(
    ("row", "want"),
    [
        pytest.param(f"| 1.1 | a | `{_HERE}::test_the_check_bites` |", [], id="a test that is there"),
        pytest.param(
            f"| 1.1 | a | {_HERE}::test_the_check_bites, {_HERE}::test_no |",
            [f"there is no test {_HERE}::test_no"],
            id="one of two is not",
        ),
        pytest.param("| 1.1 | a | none.py::test_no |", ["there is no test none.py::test_no"], id="no such file"),
        pytest.param("| 1.1 | a | — no pods here |", [], id="a reason"),
        pytest.param("| 1.1 | a | |", ["row 1.1 names neither a test nor a reason"], id="nothing said"),
        pytest.param("| 1.1 | — no pods here |", ["row 1.1 has 2 cells, not 3"], id="a cell is missing"),
        pytest.param("| row | what | shown by |\n|---|:-:|---|\ntext", [], id="the frame of a table"),
    ],
)
def test_the_check_bites(row: str, want: list[str]) -> None:
    assert faults(row) == want
