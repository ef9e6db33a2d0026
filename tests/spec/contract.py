"""The chapters of the contract, their sections and numbered rows, and what the tables in `rows/` say of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
CHAPTERS = ("catalog", "csv", "fbc", "resolver", "v1")
REASONS = (
    "differs",
    "not built",
    "no pods",
    "cannot arise",
    "as the reference",
    "elsewhere",
    "internal",
    "obsolete",
    "about",
)
"""Why a row names no test of its own: `rows/README.md` says what each means."""
_SITUATIONS = {"catalog": "8", "csv": "18", "resolver": "12"}
"""The section of a chapter whose rows are numbered through."""
_HEADING = re.compile(r"^#{2,4} (\d+(?:\.\d+)*)[. ]", re.MULTILINE)
_TEST = re.compile(r"([\w/.-]+\.py)::(\w+)")
_FRAME = ("row", "what", "shown by")


@dataclass(frozen=True, slots=True)
class Claim:
    """One line of a table: rows or sections, and the tests that show them or the reason why none does."""

    key: str
    tests: tuple[tuple[str, str], ...]
    """Path below `tests/`, and function."""
    reason: str
    """One of `REASONS`; empty when tests show the row."""
    problem: str = ""

    @property
    def rows(self) -> frozenset[str]:
        """The numbered rows that the key names."""
        return frozenset(_rows_in(self.key))

    @property
    def sections(self) -> frozenset[str]:
        """The sections that the key names."""
        return frozenset(_sections_in(self.key)) if not re.match(r"rows? |[RB]\d", self.key) else frozenset()


@cache
def text(chapter: str) -> str:
    """A chapter as written."""
    return (FOLDER / f"{chapter}.md").read_text()


def sections(chapter: str) -> tuple[str, ...]:
    """The numbers of all headings, e.g. `3.7`."""
    return tuple(_HEADING.findall(text(chapter)))


@cache
def numbered(chapter: str) -> tuple[str, ...]:
    """The numbered rows: `row 12`, `R012` (fbc), `B3` (resolver), `13.8 row 3` (v1)."""
    whole = text(chapter)
    match chapter:
        case "fbc":
            return tuple(re.findall(r"^\| (R\d{3}) \|", whole, re.MULTILINE))
        case "v1":
            return tuple(_rows_of_tables(whole))
        case "resolver":
            surprises = re.findall(r"^\* \*\*(B\d+) ", _section(whole, "13"), re.MULTILINE)
            return (*_counted(_section(whole, "12")), *dict.fromkeys(surprises))
    return tuple(_counted(_section(whole, _SITUATIONS[chapter])))


@cache
def claims(chapter: str) -> tuple[Claim, ...]:
    """What the table of a chapter says."""
    return tuple(claims_in((FOLDER / "rows" / f"{chapter}.md").read_text()))


def claims_in(table: str) -> Iterator[Claim]:
    """The lines of a Markdown table; a line of another form has a `problem`."""
    for line in table.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells or tuple(cells) == _FRAME or set("".join(cells)) <= {"-", ":"}:
            continue
        if len(cells) != len(_FRAME):
            yield Claim(cells[0], (), "", f"row {cells[0]} has {len(cells)} cells, not {len(_FRAME)}")
            continue
        key, _, shown = cells
        tests = tuple(_TEST.findall(shown))
        reason = next((word for word in REASONS if shown.startswith(f"— {word}: ")), "")
        problem = (
            "" if reason or (tests and not shown.startswith("—")) else f"row {key} names neither a test nor a reason"
        )
        yield Claim(key, tests, reason, problem)


def totals(chapter: str) -> Counter[str]:
    """How many numbered rows have a test (`tests`), how many each reason, how many nothing (`open`)."""
    found: dict[str, str] = {}
    for claim in claims(chapter):
        for row in claim.rows:
            found[row] = "tests" if "tests" in (found.get(row), claim.reason or "tests") else claim.reason
    return Counter(found.get(row, "open") for row in numbered(chapter))


def _section(whole: str, number: str) -> str:
    """The text below a heading of the second level, up to the next one."""
    start = re.search(rf"^## {number}[. ]", whole, re.MULTILINE)
    assert start, number
    end = re.search(r"^## ", whole[start.end() :], re.MULTILINE)
    return whole[start.end() :][: end.start() if end else None]


def _counted(body: str) -> Iterator[str]:
    """Rows that are counted through: `12. …`, `12–14. …` or a table with the number in its first cell."""
    position, number = 0, 1
    while found := re.compile(rf"(?:^|[\s(]){number}(?:–(\d+))?(?:\.\s|\s\|)", re.MULTILINE).search(body, position):
        last = int(found[1] or number)
        yield from (f"row {each}" for each in range(number, last + 1))
        position, number = found.start() + 1, last + 1


def _rows_of_tables(whole: str) -> Iterator[str]:
    """The rows of tables that number them, and of scenarios (`S1: …`), each with its section."""
    section, is_numbered = "", False
    for line in whole.splitlines():
        if heading := _HEADING.match(line):
            section = heading[1]
        is_numbered = line.startswith("|") and (is_numbered or line.startswith("| # |"))
        names = re.findall(r"^\| ([A-Z]?\d+)\b[^|]*\|", line) if is_numbered else []
        if section.startswith("26.") and not names:
            names = re.findall(r"(?:^|[.;] )([A-Z]\d+)(?:/[A-Z]\d+)?:? (?=\S)", line)
        yield from (f"{section} row {name}" for name in names)


def _rows_in(key: str) -> Iterator[str]:
    if re.fullmatch(r"[RB]\d+(?:(?:–|, )[RB]\d+)*", key):
        yield from _names(key)
    elif found := re.fullmatch(r"(?:(\d+(?:\.\d+)*) )?rows? (.+)", key):
        place = f"{found[1]} row" if found[1] else "row"
        yield from (f"{place} {name}" for name in _names(found[2]))


def _names(listed: str) -> Iterator[str]:
    """`3, 5–7` is 3, 5, 6, 7; `R001–R003` likewise."""
    for part in re.split(r", ?", listed):
        ends = re.findall(r"([A-Z]?)(\d+)", part)
        (letter, first), (_, last) = ends[0], ends[-1]
        yield from (f"{letter}{number:0{len(first)}}" for number in range(int(first), int(last) + 1))


def _sections_in(key: str) -> Iterator[str]:
    for part in re.split(r", ?", key):
        if found := re.match(r"(\d+(?:\.\d+)*)(?:–(\d+(?:\.\d+)*))?", part):
            first, last = found[1], found[2] or found[1]
            yield from _between(first, last)


def _between(first: str, last: str) -> Iterator[str]:
    """`6.2` to `6.5`, `16` to `18`."""
    place, _, low = first.rpartition(".")
    high = last.rpartition(".")[2]
    yield from (f"{place}.{each}".lstrip(".") for each in range(int(low), int(high) + 1))
