"""What real runs decided is decided alike today: each capture of the library, and what the library covers."""

from __future__ import annotations

import tarfile
from pathlib import Path

import msgspec
import pytest

from eventing.diagnosis.replay import open_capture, replay
from eventing.events.former import step_now
from eventing.journal.redacted import holds_stand_in
from eventing.routes import STEPS
from shared import names
from shared.api.manifest import labels_of
from shared.kinds import SECRET
from tests.replay.library import FOLDER, MOST_BYTES, MOST_BYTES_OF_ALL, paths, table

CAPTURES = sorted(paths())
FEWEST_CAPTURES = 30
SHARE_DECIDED = 0.8
"""Of the decisions of a capture; others lack an answer that Redis forgot in the story, or hash secret values."""


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: f"{path.parent.name}-{path.name.partition('.')[0]}")
def test_a_real_run_is_decided_alike_by_the_code_of_today(path: Path) -> None:
    report = replay(path)
    differing = [f"{each.run.step}\n{each.detail}" for each in report.replayed if each.result == "different"]
    again = f"python -m tests.replay.library {path.parent.name} {path.name.partition('.')[0]}"
    assert differing == [], f"if that is what you wanted: {again}"
    assert report.count("same") >= SHARE_DECIDED * len(report.replayed) > 0


def test_the_library_is_what_its_table_has() -> None:
    assert len(CAPTURES) >= FEWEST_CAPTURES
    assert sorted(FOLDER.glob("*/*")) == CAPTURES
    assert (FOLDER / "README.md").read_text().splitlines() == list(table())


def test_it_is_small() -> None:
    sizes = {path.name: path.stat().st_size for path in CAPTURES}
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES} == {}
    assert sum(sizes.values()) <= MOST_BYTES_OF_ALL


def test_it_decides_by_nearly_every_step() -> None:
    decided = {step_now(run.step) for path in CAPTURES for run in open_capture(path).index.runs.values()}
    assert sorted(set(STEPS) - decided) == NOT_DECIDED


NOT_DECIDED = ["bundle/restore_bundle"]
"""Steps of which no capture has a decision."""


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name.partition(".")[0])
def test_no_secret_is_in_it(path: Path) -> None:
    with tarfile.open(path) as tar:
        whole = b"".join(member.read() for each in tar if (member := tar.extractfile(each)))
    assert b"PRIVATE KEY" not in whole
    found = open_capture(path)
    bodies = [*found.objects, *map(msgspec.json.decode, found.index.bodies.values())]
    secrets = [
        body
        for body in bodies
        if isinstance(body, dict) and body.get("kind") == SECRET.kind and names.V1_OWNER_NAME not in labels_of(body)
    ]  # those of a revision hold the objects of a bundle
    assert all(holds_stand_in(value) for one in secrets for value in (one.get("data") or {}).values())
