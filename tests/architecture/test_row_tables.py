"""Every section and numbered row of the contract has a test, or a reason of a fixed list; the tests named exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.spec.contract import CHAPTERS, Claim, claims, claims_in, numbered, sections

TESTS = Path(__file__).parents[1]
_TEST = re.compile(r"([\w/.-]+\.py)::(\w+)")


@cache
def _functions(path: Path) -> frozenset[str]:
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def faults(lines: tuple[Claim, ...]) -> list[str]:
    """What is wrong with the lines of a table, a sentence each."""
    lost = [f"there is no test {path}::{name}" for one in lines for path, name in one.tests if not _exists(path, name)]
    return [*lost, *(one.problem for one in lines if one.problem)]


def unanswered(lines: tuple[Claim, ...], rows: tuple[str, ...], headings: tuple[str, ...]) -> list[str]:
    """Rows and sections that no line names. A section is answered by itself, a part of it, or the section around it."""
    named = {row for one in lines for row in one.rows}
    places = {section for one in lines for section in one.sections}
    missing = [row for row in rows if row not in named]
    for heading in headings:
        is_near = any(f"{heading}.".startswith(f"{place}.") or place.startswith(f"{heading}.") for place in places)
        missing += [] if is_near else [f"§{heading}"]
    return missing


def _exists(path: str, name: str) -> bool:
    return name in _functions(TESTS / path)


SITUATIONS = {"catalog": ("8",), "csv": ("18",), "fbc": ("20",), "resolver": ("12", "13"), "v1": ()}
"""Sections that consist of numbered rows, which are asked for one by one."""


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_table_tells_the_truth(chapter: str) -> None:
    assert faults(claims(chapter)) == []


@pytest.mark.parametrize("chapter", ["catalog", "csv", "resolver"])
def test_of_classic_olm_nothing_is_left_to_build(chapter: str) -> None:
    """As `k8s/COMING_FROM_OLM.md` says: what is left are differences, each on purpose."""
    assert [one.key for one in claims(chapter) if one.reason == "not built"] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_table_answers_for_every_row_and_section(chapter: str) -> None:
    asked = tuple(each for each in sections(chapter) if each.partition(".")[0] not in SITUATIONS[chapter])
    assert unanswered(claims(chapter), numbered(chapter), asked) == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_table_names_no_row_that_is_not_there(chapter: str) -> None:
    assert sorted({row for one in claims(chapter) for row in one.rows} - set(numbered(chapter))) == []


@pytest.mark.parametrize(
    ("chapter", "count", "last"),
    [
        ("catalog", 168, "row 168"),
        ("csv", 286, "row 286"),
        ("fbc", 435, "R435"),
        ("resolver", 241, "B34"),
        ("v1", 254, "26.13 row Q4"),
    ],
)
def test_all_numbered_rows_are_found(chapter: str, count: int, last: str) -> None:
    assert (len(numbered(chapter)), numbered(chapter)[-1]) == (count, last)


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
        pytest.param("| 1.1 | a | — no pods: none here |", [], id="a reason of the list"),
        pytest.param(
            "| 1.1 | a | — because |",
            ["row 1.1 names neither a test nor a reason"],
            id="a reason that is not in the list",
        ),
        pytest.param("| 1.1 | a | |", ["row 1.1 names neither a test nor a reason"], id="nothing said"),
        pytest.param("| 1.1 | — no pods: here |", ["row 1.1 has 2 cells, not 3"], id="a cell is missing"),
        pytest.param("| row | what | shown by |\n|---|:-:|---|\ntext", [], id="the frame of a table"),
    ],
)
def test_the_check_bites(row: str, want: list[str]) -> None:
    assert faults(tuple(claims_in(row))) == want


@pytest.mark.parametrize(
    ("keys", "want"),
    [
        pytest.param(["row 1", "2"], ["row 2", "row 3", "R004", "§1"], id="a row and a section are missing"),
        pytest.param(["rows 1–3", "R004", "1.2", "2.1"], [], id="ranges, and parts of a section"),
        pytest.param(["rows 1, 3", "R004", "1–2"], ["row 2"], id="a gap in a list"),
    ],
)
def test_a_gap_is_found(keys: list[str], want: list[str]) -> None:
    lines = tuple(Claim(key, (), "no pods") for key in keys)
    assert unanswered(lines, ("row 1", "row 2", "row 3", "R004"), ("1", "2")) == want
