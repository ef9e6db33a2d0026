"""The package manifest."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.authoring.validation.package_manifest import package_manifest


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({}, ["() packageName empty", "() channels empty"]),
        (
            {"packageName": "p", "channels": [{"name": "a", "currentCSV": "x"}, {"name": "a"}]},
            [
                "(p) default channel is empty but more than one channel exists", '(p) channel "a" currentCSV is empty',
                '(p) duplicate package manifest channel name "a"',
            ],
        ),
        (
            {"packageName": "p", "defaultChannel": "b", "channels": [{"currentCSV": "x"}]},
            ["(p) channel 0 name is empty", '(p) default channel "b" not found in the list of declared channels'],
        ),
        ({"packageName": "p", "channels": [{"name": "a", "currentCSV": "x"}]}, []),
    ],
)  # fmt: skip
def test_fbc_md_11_6_package_manifests(manifest: dict[str, Any], words: list[str]) -> None:
    assert [one.detail for one in package_manifest(manifest)] == words
