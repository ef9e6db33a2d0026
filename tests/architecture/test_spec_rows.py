"""Every section of the catalog contract that applies here is named by a test."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SECTIONS = (
    "1.5", "1.6", "1.7",
    "2.1", "2.2", "2.3", "2.10", "2.11", "2.12",
    "3.1", "3.2", "3.3", "3.5", "3.6", "3.7 C", "3.7 D", "3.7 F", "3.7 G", "3.7 H", "3.8", "3.9", "3.10",
    "4.1", "4.2", "4.3", "4.5", "4.6", "4.8", "4.9", "4.10",
    "5.1", "5.2", "5.3", "5.4", "5.5", "5.6",
    "8.1", "8.3", "8.5", "8.6", "8.7", "8.8", "8.9", "8.10", "8.11", "8.12", "8.13",
)  # fmt: skip
"""Not here: pods, connections (2.4-2.9), PackageManifests (2.13), scoped plans (4.4, 4.7).

Row by row: `tests/functions/ROWS_CATALOG.md`.
"""
_ROWS = re.compile(r'catalog\.md (\d[^:"]*)|test_catalog_md_(\d+)_(\d+)_')
_SECTION = re.compile(r"\d+\.\d+(?: [A-H]\b)?")


@cache
def _named() -> frozenset[str]:
    """The sections that ids, docstrings and names of tests name; one may name several (`3.7 F and 8.13.153`)."""
    texts = (path.read_text() for path in TESTS.rglob("test_*.py") if path != Path(__file__))
    rows = (row or f"{chapter}.{part}" for text in texts for row, chapter, part in _ROWS.findall(text))
    return frozenset(section for row in rows for section in _SECTION.findall(row))


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_is_named_by_a_test(section: str) -> None:
    assert section in _named()
