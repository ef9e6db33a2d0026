"""What there is of the objects of a revision."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases.objects import Claim
from shared.domain.extension.phases.order import Phase
from shared.kinds import CONFIG_MAP, Kind, Ref
from shared.reading.present_objects import BOUND, MANY, Present, read_phase
from shared.reading.revision import every_task
from tests.functions.cluster_extension.world import a_config_map
from tests.functions.cluster_object_set.test_revisions import PLACE, a_set, held
from tests.kit.cluster import FakeCluster, FixedClock

THERE, MISSING = (a_config_map(name, PLACE) for name in ("there", "missing"))


def test_every_object_is_looked_at_whatever_phase_it_is_in() -> None:
    cluster = FakeCluster([THERE])
    phases = (Phase("phase0", (MISSING,)), Phase("phase1", (THERE, _nameless())))
    found = [pair for phase in phases for pair in read_phase(phase, cluster, cluster)]
    assert [(ref.name, one is not None) for ref, one in found] == [("missing", False), ("there", True)]
    revision = ClusterObjectSet(a_set(held(MISSING), held(THERE)))
    present = Present(revision, (phases[0], Phase("phase1", (THERE,))), cluster, cluster, is_certain=True)
    tasks = list(every_task(Claim(revision, FixedClock().now()), present))
    assert [task.action for task in tasks] == ["Created", "Collision"]


class Counting(FakeCluster):
    """A cluster that counts what its lists have."""

    listed = 0

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        found = super().list(kind, namespace, labels=labels, most=most)
        self.listed += len(found)
        return found


@pytest.mark.parametrize(
    ("others", "listed"),
    [
        pytest.param(0, MANY - 1, id="its own"),
        pytest.param(MANY, 2 * MANY - 1, id="a few more"),
        pytest.param(500, BOUND * MANY, id="whoever may write there labelled many"),
    ],
)
def test_many_objects_with_its_label_are_not_read(others: int, listed: int) -> None:
    mine = [_labelled(f"mine-{number}") for number in range(MANY - 1)]
    cluster = Counting([*mine, *(_labelled(f"another-{number}") for number in range(others))])
    phases = (Phase("phase0", (*mine, MISSING)),)
    present = Present(ClusterObjectSet(a_set(held(*mine, MISSING))), phases, cluster, cluster)
    refs = [Ref.of(one) for one in phases[0].objects]
    desired = {**{Ref.of(one): one for one in mine}, Ref.of(MISSING): None}
    for _ in range(2):
        assert present.of(refs) == desired
    assert cluster.listed == listed, "read once, and no more than that"


def _labelled(name: str) -> Manifest:
    made = a_config_map(name, PLACE)
    return {**made, "metadata": {**made["metadata"], "labels": {names.V1_OWNER_NAME: "set"}}}


def _nameless() -> Manifest:
    return {"apiVersion": CONFIG_MAP.api_version, "kind": CONFIG_MAP.kind, "metadata": {"name": "No_Name"}}
