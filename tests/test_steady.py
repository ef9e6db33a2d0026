"""What fails once and passes alone is told and is no failure; what fails twice, or with many, is one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.steady import AT_MOST, main

ONCE = """
from pathlib import Path
def test_it(tmp_path_factory):
    seen = Path(__file__).with_name("seen")
    known = seen.exists()
    seen.touch()
    assert known
"""
ALWAYS = "def test_it(): assert False\n"
NEVER = "def test_it(): pass\n"
MANY = "".join(f"def test_{number}(): assert False\n" for number in range(AT_MOST + 1))


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        pytest.param(NEVER, 0, [], id="nothing failed"),
        pytest.param(ONCE, 0, ["UNSTEADY, passed alone: test_case.py::test_it"], id="a failure that passes alone"),
        pytest.param(ALWAYS, 1, ["failed twice: test_case.py::test_it"], id="a failure that stays"),
        pytest.param(MANY, 1, [], id="more failures than an accident has"),
        pytest.param("import nothing_of_this_name\n", 2, [], id="no test at all"),
    ],
)
def test_a_few_failures_are_tried_once_more(
    text: str,
    status: int,
    said: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # all of them take a second to import, nine times
    (tmp_path / "test_case.py").write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "xdist.plugin", str(tmp_path), f"--rootdir={tmp_path}"]
    assert main(command) == status
    told = capfd.readouterr().out.splitlines()
    assert [line for line in told if line.startswith(("UNSTEADY", "failed twice"))] == said
