"""When the files of a served folder count as changed."""

from __future__ import annotations

import os
from pathlib import Path

from eventing.registry.folder import state_of


def test_new_changed_and_removed_files_are_another_state(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b.yaml"
    states = [state_of(tmp_path)]
    file.parent.mkdir()
    file.write_text("1")
    states.append(state_of(tmp_path))
    os.utime(file, ns=(1, 1))
    states.append(state_of(tmp_path))
    file.write_text("22")
    states.append(state_of(tmp_path))
    assert len(set(states)) == len(states)
    assert state_of(tmp_path) == states[-1]
    file.unlink()
    assert state_of(tmp_path) == states[0]


def test_a_folder_that_is_gone_has_no_files(tmp_path: Path) -> None:
    assert state_of(tmp_path / "nowhere") == ()
