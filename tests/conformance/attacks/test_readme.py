"""What the README of this folder names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conformance.attacks.known import ATTACKS

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
ROWS = [line.split("|")[1:-1] for line in (HERE / "README.md").read_text().splitlines() if line.startswith("| ")][1:]
_QUOTED = re.compile("`([^`]+)`")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_the_mend_and_the_tests_of_a_finding_are_there(row: list[str]) -> None:
    _, mends, attacks, tests = row
    assert all((ROOT / found).exists() for found in _QUOTED.findall(mends) if "/" in found)
    assert set(_QUOTED.findall(attacks)) <= {attack.__name__ for attack in ATTACKS}
    named = [found.split("::") for found in _QUOTED.findall(tests)]
    assert named
    for file, test in named:
        assert f"def {test}(" in (ROOT / file).read_text(), test


def test_every_attack_shows_a_finding() -> None:
    shown = {found for row in ROWS for found in _QUOTED.findall(row[2])}
    assert {attack.__name__ for attack in ATTACKS} - shown == {"own_group", "writes_what_is_not_his"}
