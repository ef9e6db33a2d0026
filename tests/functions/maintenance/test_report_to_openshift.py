"""A ClusterOperator tells an OpenShift of the installation (csv.md §15.1)."""

from __future__ import annotations

import pytest

from eventing.events import event as events
from eventing.events.event import Event
from eventing.routes import jobs_for
from functions.maintenance.report_to_openshift import report_to_openshift
from shared import names
from shared.api.manifest import Manifest
from shared.domain.csv.cluster_operator import OURS, VERSION, cluster_operator
from shared.kinds import CLUSTER_OPERATOR, CLUSTER_SERVICE_VERSION, Ref
from shared.ports import Policy
from shared.step import NOTHING, Create, Outcome, SetStatus
from tests.functions.operator_group.builders import a_csv, a_group
from tests.kit.cluster import FakeCluster, FixedClock

LIMIT = {"operatorframework.io/properties": '{"properties":[{"type":"olm.maxOpenShiftVersion","value":"4.18"}]}'}
COPY = a_csv("copy.v1", annotations=LIMIT, labels={"olm.copiedFrom": "x"})
ELSEWHERE = a_csv("other.v1", "no-group", annotations=LIMIT)


def a_version(text: str = "4.18.2") -> Manifest:
    meta = {"name": VERSION.name}
    status = {"desired": {"version": text}}
    return {"apiVersion": VERSION.api_version, "kind": VERSION.kind, "metadata": meta, "status": status}


def an_operator(**more: object) -> Manifest:
    made = cluster_operator()
    return {**made, "metadata": {**made["metadata"], "resourceVersion": "3"}, **more}


def run(*objects: Manifest) -> Outcome:
    return report_to_openshift(OURS, FakeCluster(objects), FixedClock(), policy=Policy())


def test_without_openshift_nothing_happens_csv_md_15_1() -> None:
    assert run(a_group(), a_csv(annotations=LIMIT), an_operator()) == NOTHING


def test_its_object_is_made_first_csv_md_15_1() -> None:
    assert run(a_version()).writes == (Create(cluster_operator()),)


@pytest.mark.parametrize(
    ("csv", "status"),
    [
        pytest.param(a_csv(annotations=LIMIT), "False", id="an operator is not for the next version"),
        pytest.param(a_csv(), "True", id="no operator says so"),
        pytest.param(COPY, "True", id="a copy does not count"),
        pytest.param(ELSEWHERE, "True", id="a version that no group runs does not count"),
    ],
)
def test_it_says_whether_operators_allow_an_upgrade_csv_md_15_1(csv: Manifest, status: str) -> None:
    (write,) = run(a_version(), an_operator(), a_group(), csv).writes
    assert isinstance(write, SetStatus)
    assert {one["type"]: one["status"] for one in write.status["conditions"]}["Upgradeable"] == status
    assert run(a_version(), an_operator(status=write.status), a_group(), csv).writes == ()


def steps(ref: Ref, **hints: str) -> set[str]:
    found = jobs_for(Event("e", names.UPDATED, "cluster", ref, hints))
    return {job.step for job in found if job.ref == OURS}


def test_only_what_matters_wakes_it() -> None:
    desired = {"maintenance/report_to_openshift"}
    csv = CLUSTER_SERVICE_VERSION.ref("a.v1", "ns")
    assert steps(VERSION) == steps(OURS) == desired
    assert steps(CLUSTER_OPERATOR.ref("etcd")) == set()
    assert steps(csv, **{events.COPIED: "false", events.LIMITED: "true"}) == desired
    assert steps(csv, **{events.COPIED: "false", events.LIMITED: "false"}) == set()
    assert steps(csv, **{events.COPIED: "true", events.LIMITED: "true"}) == set()
    assert steps(csv) == desired  # a sender that does not say
