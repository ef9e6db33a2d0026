"""When the files of a served folder count as changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eventing.local.image_registry.folder import CatalogFolder, state_of
from shared.names import LEFT_OUT


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


PACKAGE = '{"schema": "olm.package", "name": "tide", "defaultChannel": "stable"}'
CHANNEL = (
    '{"schema": "olm.channel", "package": "tide", "name": "stable", "entries": [{"name": "tide.v1"}]}'
    '{"schema": "olm.bundle", "package": "tide", "name": "tide.v1", "image": "i", "properties":'
    ' [{"type": "olm.package", "value": {"packageName": "tide", "version": "1.0.0"}}]}'
)


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        pytest.param(PACKAGE + CHANNEL, "", id="a sound catalog"),
        pytest.param(
            PACKAGE.replace(', "defaultChannel": "stable"', "") + CHANNEL,
            '["invalid package \\"tide\\": default channel must be set (c.json, document 1, line 1)"]',
            id="a package without a default channel",
        ),
    ],
)
def test_a_catalog_carries_what_is_wrong_in_it(tmp_path: Path, content: str, wrong: str) -> None:
    (tmp_path / "c.json").write_text(content)
    assert CatalogFolder(tmp_path, "catalogs/c", "latest").labels({}).get(LEFT_OUT, "") == wrong


def test_a_folder_that_is_gone_has_no_files(tmp_path: Path) -> None:
    assert state_of(tmp_path / "nowhere") == ()
