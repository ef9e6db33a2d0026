"""What was recorded is decided again alike, and the world ends alike however its events come."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventing.diagnosis.replay import replay
from eventing.diagnosis.replay.perturbation import KINDS, Kind, drawn
from eventing.diagnosis.replay.sandboxed import replay_in_sandbox
from eventing.diagnosis.replay.search import changes_of
from tests.replay.living import LivingWorld
from tests.replay.stories import GROUP, STORIES, groups_come_and_go

CAPTURES = sorted(Path(__file__).parent.glob("*.tar.gz"))


@pytest.fixture(params=STORIES, ids=lambda story: story.__name__)
def incident(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    world = LivingWorld()
    request.param(world)
    return world.save(tmp_path / "incident.tar")


def test_every_decision_is_the_same_again(incident: Path) -> None:
    report = replay(incident)
    assert [each.detail for each in report.replayed if each.result != "same"] == []
    assert len(report.replayed) > 5


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_the_world_ends_alike_however_its_events_come(incident: Path, kind: Kind | None) -> None:
    report = replay_in_sandbox(incident, perturbed=drawn(kind, len(changes_of(incident)), 1) if kind else None)
    assert [f"{ref}\n{diff}" for ref, diff in report.differences] == []
    assert report.exit_code == 0


def test_the_stories_change_something(tmp_path: Path) -> None:
    world = LivingWorld()
    groups_come_and_go(world)
    assert world.objects[GROUP]["status"]["namespaces"] == ["blue", "green"]


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_a_capture_is_decided_alike_by_the_code_of_today(path: Path) -> None:
    report = replay(path)
    differing = [f"{each.run.step}\n{each.detail}" for each in report.replayed if each.result == "different"]
    assert differing == [], "if that is what you wanted: python -m tests.replay.stories"
    assert report.count("same") > 0


def test_every_story_has_its_capture() -> None:
    assert {path.name.partition(".")[0] for path in CAPTURES} >= {story.__name__ for story in STORIES}
