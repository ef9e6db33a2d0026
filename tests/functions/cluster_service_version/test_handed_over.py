"""Nothing is done for a version whose objects a ClusterExtension takes over."""

from __future__ import annotations

import pytest

from shared import names
from shared.step import NOTHING
from tests.domain.csv.builders import MEMBERSHIP, a_csv
from tests.functions.cluster_service_version.world import World


@pytest.mark.parametrize(
    ("step", "phase"), [("check", "Pending"), ("install", "InstallReady"), ("probe", "Succeeded")], ids=str
)
def test_a_version_that_is_handed_over_is_left_alone(step: str, phase: str) -> None:
    marks = {names.HANDED_OVER: "a"}
    assert World([a_csv(status={"phase": phase}, annotations={**MEMBERSHIP, **marks})]).step(step) == NOTHING
    assert World([a_csv(status={"phase": phase})]).step(step) != NOTHING, "without the mark it would do something"
