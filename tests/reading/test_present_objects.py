"""What there is of the objects of a revision."""

from __future__ import annotations

from shared.api.manifest import Manifest
from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases.objects import Claim
from shared.domain.extension.phases.order import Phase
from shared.kinds import CONFIG_MAP
from shared.reading.present_objects import Present, look
from shared.reading.revision import every_task
from tests.functions.cluster_extension.world import a_config_map
from tests.functions.cluster_object_set.test_revisions import PLACE, a_set, held
from tests.kit.cluster import FakeCluster, FixedClock

THERE, MISSING = (a_config_map(name, PLACE) for name in ("there", "missing"))


def test_every_object_is_looked_at_whatever_phase_it_is_in() -> None:
    cluster = FakeCluster([THERE])
    phases = (Phase("phase0", (MISSING,)), Phase("phase1", (THERE, _nameless())))
    found = [pair for phase in phases for pair in look(phase, cluster, cluster)]
    assert [(ref.name, one is not None) for ref, one in found] == [("missing", False), ("there", True)]
    revision = ClusterObjectSet(a_set(held(MISSING), held(THERE)))
    present = Present(revision, (phases[0], Phase("phase1", (THERE,))), cluster, cluster, is_certain=True)
    tasks = list(every_task(Claim(revision, FixedClock().now()), present))
    assert [task.action for task in tasks] == ["Created", "Collision"]


def _nameless() -> Manifest:
    return {"apiVersion": CONFIG_MAP.api_version, "kind": CONFIG_MAP.kind, "metadata": {"name": "No_Name"}}
