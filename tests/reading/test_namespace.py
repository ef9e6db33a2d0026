"""What the objects of a namespace say about a plan that is under way."""

from __future__ import annotations

import pytest

from shared.api.manifest import Manifest
from shared.kinds import CATALOG_SOURCE, OPERATOR_GROUP, SUBSCRIPTION
from shared.names import EXCLUDE_GLOBAL_CATALOGS
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


def a_source(namespace: str) -> Manifest:
    meta = {"name": "local", "namespace": namespace}
    return {"apiVersion": CATALOG_SOURCE.api_version, "kind": CATALOG_SOURCE.kind, "metadata": meta}


def a_group(**annotations: str) -> Manifest:
    meta = {"name": "group", "namespace": "ns", "annotations": annotations}
    return {"apiVersion": OPERATOR_GROUP.api_version, "kind": OPERATOR_GROUP.kind, "metadata": meta}


@pytest.mark.parametrize(
    ("group", "global_namespace", "want"),
    [
        pytest.param(a_group(), "olm", ["ns", "olm"], id="its own and the global ones"),
        pytest.param(a_group(**{EXCLUDE_GLOBAL_CATALOGS: "true"}), "olm", ["ns"], id="the group excludes these"),
        pytest.param(a_group(), "ns", ["ns"], id="it is the global namespace itself"),
    ],
)
def test_the_catalogs_that_a_namespace_sees(group: Manifest, global_namespace: str, want: list[str]) -> None:
    cluster = FakeCluster([a_subscription("a"), group, a_source("ns"), a_source("olm"), a_source("other")])
    found = read_namespace(cluster, Sick(), "ns", Policy(global_namespace=global_namespace))
    assert [key.namespace for key in found.inputs.catalogs] == want
