"""What the objects of a namespace say about a plan that is under way."""

from __future__ import annotations

import pytest

from shared.api.manifest import Manifest
from shared.kinds import SUBSCRIPTION
from shared.ports import Policy
from shared.reading.namespace import read_namespace
from tests.domain.resolution_inputs.test_request import Sick
from tests.kit.cluster import FakeCluster

PLANNED = {"state": "UpgradePending", "installedCSV": "a.v1", "currentCSV": "a.v2", "installPlanRef": {"name": "p"}}


def a_subscription(name: str, **status: object) -> Manifest:
    meta = {"name": name, "namespace": "ns"}
    return {"apiVersion": SUBSCRIPTION.api_version, "kind": SUBSCRIPTION.kind, "metadata": meta, "status": status}


@pytest.mark.parametrize(
    ("status", "want"),
    [
        pytest.param(PLANNED, "a.v2", id="a plan installs the next version"),
        pytest.param({**PLANNED, "state": "AtLatestKnown", "currentCSV": "a.v1"}, "", id="the plan is done"),
    ],
)
def test_the_version_of_an_unfinished_plan_is_known(status: Manifest, want: str) -> None:
    cluster = FakeCluster([a_subscription("a", **status), a_subscription("b")])
    found = read_namespace(cluster, Sick(), "ns", Policy()).inputs.subscribers
    assert [one.planned_csv for one in found] == [want, ""]
