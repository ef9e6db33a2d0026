"""`olmf replay` chooses decisions, shows them one by one, and ends with the code of its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from eventing.cli.failure import CliError
from eventing.cli.replay import replay
from eventing.diagnosis.replay import open_capture
from tests.replay.living import LivingWorld
from tests.replay.stories import groups_come_and_go

STORY = Path(__file__).parents[3] / "replay" / "groups_come_and_go.tar.gz"
RUNS = list(open_capture(STORY).index.runs.values())
ONE_STEP = "operator_group/select_namespaces"


def output(capsys: pytest.CaptureFixture[str], **options: Any) -> list[str]:
    with pytest.raises(typer.Exit) as end:
        replay(STORY, **options)
    assert end.value.exit_code == 0
    return capsys.readouterr().out.splitlines()


def test_all_decisions_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    count = sum(len(run.decisions) for run in RUNS)
    assert output(capsys) == [f"decisions: {count} same, 0 different, 0 without a full recording"]


@pytest.mark.parametrize("name", [ONE_STEP, "select_namespaces"])
def test_one_step_only(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    count = sum(len(run.decisions) for run in RUNS if run.step == ONE_STEP)
    assert 0 < count < len(RUNS)
    assert output(capsys, only=name) == [f"decisions: {count} same, 0 different, 0 without a full recording"]


def test_until_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, until=RUNS[0].id) == [
        f"decisions: {len(RUNS[0].decisions)} same, 0 different, 0 without a full recording"
    ]


def test_step_by_step_shows_what_was_decided_and_written(capsys: pytest.CaptureFixture[str]) -> None:
    run = next(run for run in RUNS if run.step == ONE_STEP and run.decisions[0].writes)
    lines = output(capsys, step=True, until=run.id)
    shown = lines[lines.index(f"same       {run.step} {run.ref} ({run.id})") :]
    write = run.decisions[0].writes[0]
    assert shown[1:3] == [f"  {run.decisions[0].message}", f"  {write.op} {write.ref}: sent"]
    assert sum(line.startswith("same ") for line in lines) == RUNS.index(run) + 1


def test_a_run_that_is_not_there_is_a_mistake_of_usage() -> None:
    with pytest.raises(CliError, match="no run nowhere in this capture; `olmf events list --from") as refused:
        replay(STORY, until="nowhere")
    assert refused.value.code == 2


def test_worlds_with_disturbed_events_end_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.telemetry.configure_logging", lambda *_: None)  # why: it is of the whole process
    world = LivingWorld()
    groups_come_and_go(world)
    capsys.readouterr()
    with pytest.raises(typer.Exit) as end:
        replay(world.save(tmp_path / "story.tar"), world=True, perturb="reorder", runs=2)
    assert end.value.exit_code == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "3 worlds, 2 of them with disturbed events (reorder): all ended alike"
