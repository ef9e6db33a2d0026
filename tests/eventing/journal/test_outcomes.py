"""Writes as the journal keeps them: what an older capture says is said in the same way."""

from __future__ import annotations

import json

import pytest

from eventing.journal.outcomes import write_json
from shared.kinds import CONFIG_MAP
from shared.step import Delete

MAP = CONFIG_MAP.ref("one", "olm")


@pytest.mark.parametrize(
    ("write", "more"),
    [
        pytest.param(Delete(MAP, "u"), {}, id="of whatever version"),
        pytest.param(Delete(MAP, "u", resource_version="7"), {"resourceVersion": "7"}, id="of one version"),
    ],
)
def test_a_delete_names_a_version_only_where_it_is_about_one(write: Delete, more: dict[str, str]) -> None:
    always = {"op": "Delete", "ref": str(MAP), "uid": "u", "propagation": "Background"}
    assert json.dumps(write_json(write)) == json.dumps({**always, **more})
