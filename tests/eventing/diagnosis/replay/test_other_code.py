"""A capture is decided by the code of another folder or revision, and what changes is shown."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest
import typer

from eventing.cli.failure import CliError
from eventing.cli.replay import replay
from eventing.diagnosis.replay.other_code import NoSuchCode, decided
from tests.eventing.diagnosis.replay.test_verb import ONE_STEP, RUNS, STORY

ROOT = Path(__file__).parents[4]
DECISIONS = sum(len(run.decisions) for run in RUNS)


def output(capsys: pytest.CaptureFixture[str], code: Path | str, only: str = "") -> tuple[int, list[str]]:
    with pytest.raises(typer.Exit) as end:
        replay(STORY, code=str(code), only=only)
    return end.value.exit_code, capsys.readouterr().out.splitlines()


def another(folder: Path, change: tuple[str, str]) -> Path:
    """This code, but for one word of one step."""
    for package in ("shared", "eventing"):
        (folder / package).symlink_to(ROOT / package)
    copytree(ROOT / "functions", folder / "functions")
    step = folder / "functions" / f"{ONE_STEP}.py"
    step.write_text(step.read_text().replace(*change))
    return folder


def test_the_same_code_decides_alike(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, ROOT) == (0, [f"decisions: {DECISIONS} same, 0 different, 0 without a full recording"])


def test_what_other_code_decides_otherwise_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = output(capsys, another(tmp_path, ("if desired != group.status:", "if not desired:")), only=ONE_STEP)
    different = [line.split()[1] for line in lines if line.startswith("different ")]
    assert code == 1
    assert different
    assert set(different) == {ONE_STEP}
    assert f", {len(different)} different, " in lines[-1]


def test_code_that_does_not_start_reports_why(tmp_path: Path) -> None:
    broken = another(tmp_path, ("from __future__ import annotations", "import nothing_of_this_name"))
    with pytest.raises(CliError, match="nothing_of_this_name"):
        replay(STORY, code=str(broken), only=ONE_STEP)


def test_what_other_code_prints_is_no_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chatty = another(tmp_path, ("from __future__ import annotations", "print('hello')"))
    assert output(capsys, chatty)[0] == 0


def test_code_that_never_decides_is_given_up(tmp_path: Path) -> None:
    endless = another(tmp_path, ("from __future__ import annotations", "import threading; threading.Event().wait()"))
    with pytest.raises(NoSuchCode, match="nothing came for 5 s"):
        list(decided(endless, STORY, seconds=5))


def test_code_that_is_killed_reports_it(tmp_path: Path) -> None:
    suicidal = another(tmp_path, ("from __future__ import annotations", "import os; os.kill(os.getpid(), 9)"))
    with pytest.raises(NoSuchCode, match="it ended with -9"):
        list(decided(suicidal, STORY))


def test_what_is_done_is_reported_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = another(tmp_path, ("from __future__ import annotations", "import nothing_of_this_name"))
    with pytest.raises(CliError):
        replay(STORY, code=str(broken))
    assert capsys.readouterr().err == f"deciding {len(RUNS)} recorded runs with the code of {broken}\n"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this code is not in a git repository")
def test_a_revision_is_code_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "HEAD")[0] == 0


@pytest.mark.parametrize(
    ("code", "why"),
    [
        pytest.param("no-such-revision", "no folder, and no revision of", id="nothing"),
        pytest.param("--output=x", "no folder, and no revision of", id="an option of git"),
        pytest.param(str(ROOT / "k8s"), "it lacks functions, shared, eventing", id="a folder of something else"),
    ],
)
def test_what_is_no_code_is_refused(code: str, why: str) -> None:
    with pytest.raises(CliError, match=why):
        replay(STORY, code=code)
