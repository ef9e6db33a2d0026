"""A world is built again in a real sandbox."""

from __future__ import annotations

from pathlib import Path

from eventing.replay.sandboxed import replay_in_sandbox
from tests.eventing.replay.test_world import TheseSteps, an_incident, track


def test_a_world_is_replayed_in_a_fresh_sandbox(tmp_path: Path) -> None:
    report = replay_in_sandbox(an_incident(tmp_path / "incident.tar"), steps=TheseSteps(track))
    assert report.differences == ()
    assert report.exit_code == 0
