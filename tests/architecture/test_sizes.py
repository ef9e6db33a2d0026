"""Modules and functions stay small, and the check that says so bites."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.sizes import excesses

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    path.relative_to(ROOT)
    for top in ("functions", "shared", "eventing")
    for path in (ROOT / top).rglob("*.py")
    if not path.stem.endswith("_pb2")  # generated
)
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_module_keeps_to_the_ceilings(path: Path) -> None:
    assert excesses(path, (ROOT / path).read_text()) == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [str(path) for path in MODULES if path.stem in VAGUE] == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        pytest.param("shared/x.py", '"""A."""\n' + "a = 1\n" * 300, id="a long module"),
        pytest.param("functions/g/x.py", '"""A."""\n' + "a = 1\n" * 80, id="a long step"),
        pytest.param("shared/x.py", '"""A."""\ndef f():\n' + "    a = 1\n" * 40, id="a long function"),
        pytest.param("shared/x.py", '"""A."""\ndef f(a, b, c, d, e): ...\n', id="many parameters"),
        pytest.param("shared/x.py", "a = 1\n", id="no opening sentence"),
    ],
)
def test_the_check_bites(path: str, source: str) -> None:
    assert len(excesses(Path(path), source)) == 1
