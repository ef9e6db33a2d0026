"""One look at a bundle that a Job unpacks: rights that were changed, catalogs that came back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shared import kinds
from shared.api.manifest import Manifest, metadata
from shared.api.views import ConfigMap, Job, RoleBinding
from shared.domain.unpack.result import Broken, Missing, Running, Stale
from shared.reading.unpacking import Repair, UnpackState, read_unpacking, repair
from tests.domain.unpack.test_unpack import DESIRED, HASH, NOW, a_job, a_pod
from tests.kit.cluster import FakeCluster

ROLE, ACCOUNT, BINDING = DESIRED.access()
CONFIG_MAP = DESIRED.config_map()


def a_catalog(minutes_ago: float) -> Manifest:
    status = {"connectionState": {"lastConnect": (NOW - timedelta(minutes=minutes_ago)).isoformat()}}
    meta = {"name": "local", "namespace": "olm"}
    return {"apiVersion": kinds.CATALOG_SOURCE.api_version, "kind": "CatalogSource", "metadata": meta, "status": status}


def looked(cluster: FakeCluster, config_map: Manifest | None) -> UnpackState:
    return read_unpacking(DESIRED, ConfigMap.of(config_map), cluster, NOW, warnings=cluster)


ELSE: Manifest = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
FOREIGN = {**BINDING, "subjects": [{"kind": "ServiceAccount", "name": "somebody", "namespace": "olm"}]}
OTHER_ROLE = {**BINDING, "roleRef": {**BINDING["roleRef"], "name": "admin"}}


@pytest.mark.parametrize(
    ("live", "want"),
    [
        pytest.param([ROLE, ACCOUNT, BINDING], Repair(), id="all is as it was made"),
        pytest.param(
            [{**ROLE, "rules": [ELSE]}, ACCOUNT, BINDING],
            Repair(replace=(ROLE,)),
            id="catalog.md 5.1: a rule that is missing in an existing Role comes back",
        ),
        pytest.param(
            [{**ROLE, "rules": None}, ACCOUNT, BINDING], Repair(replace=(ROLE,)), id="a Role that gives nothing"
        ),
        pytest.param(
            [{**ROLE, "rules": [*ROLE["rules"], ELSE]}, ACCOUNT, BINDING], Repair(), id="more rules do no harm"
        ),
        pytest.param(
            [ROLE, ACCOUNT, FOREIGN],
            Repair(delete=RoleBinding.each((FOREIGN,)), create=(BINDING,)),
            id="catalog.md 5.1: a binding with another subject is made anew",
        ),
        pytest.param(
            [ROLE, ACCOUNT, OTHER_ROLE],
            Repair(delete=RoleBinding.each((OTHER_ROLE,)), create=(BINDING,)),
            id="catalog.md 5.1: a binding with another roleRef is made anew",
        ),
        pytest.param([], Repair(create=(ROLE, ACCOUNT, BINDING)), id="catalog.md 5.1: created if absent"),
    ],
)
def test_the_permissions_of_a_job_come_back(live: list[Manifest], want: Repair) -> None:
    assert repair(DESIRED, FakeCluster(live)) == want


@pytest.mark.parametrize("job", [a_job(minutes_ago=1), None], ids=["a slow Job", "no Job, but its ConfigMap"])
def test_permissions_are_looked_at_when_something_is_unusual(job: Manifest | None) -> None:
    cluster = FakeCluster([ROLE, ACCOUNT, FOREIGN, *([job] if job else [])])
    assert looked(cluster, CONFIG_MAP).repair == Repair(delete=RoleBinding.each((FOREIGN,)), create=(BINDING,))


def test_what_goes_as_usual_costs_one_request() -> None:
    assert looked(FakeCluster([FOREIGN]), None) == UnpackState(Missing(HASH))
    assert looked(FakeCluster([a_job(), FOREIGN]), CONFIG_MAP) == UnpackState(Running(Job(a_job())))


def test_a_slow_job_says_what_its_pods_wait_for() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", **a_pod("ErrImagePull", "unauthorized")}
    pod["metadata"] = {**metadata(pod), "labels": {"job-name": HASH}}
    seen = looked(FakeCluster([a_job(minutes_ago=1), pod, ROLE, ACCOUNT, BINDING]), CONFIG_MAP)
    assert isinstance(seen.result, Running)
    assert "Reason: ErrImagePull, Message: unauthorized" in seen.result.message


def test_what_ended_pods_said_is_reported_before_the_job_fails() -> None:
    """The controller waits longer and longer before it makes another one."""
    pods = []
    for name in ("first", "second"):
        status = {"containerStatuses": [{"name": "extract", "state": {"terminated": {"message": "no trusted CA\n"}}}]}
        meta = {"name": name, "namespace": "olm", "labels": {"job-name": HASH}}
        pods.append({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "status": {"phase": "Failed", **status}})
    seen = looked(FakeCluster([a_job(minutes_ago=1), *pods, ROLE, ACCOUNT, BINDING]), CONFIG_MAP)
    assert isinstance(seen.result, Running)
    assert seen.result.cause == "no trusted CA"


@pytest.mark.parametrize("condition", ["Failed", "Complete"])
def test_a_failure_is_forgotten_when_its_catalog_has_changed_since(condition: str) -> None:
    failed = a_job(condition=condition, reason="BackoffLimitExceeded", minutes_ago=2)
    assert looked(FakeCluster([failed, a_catalog(1)]), CONFIG_MAP).result == Stale(Job(failed))
    for catalogs in ([a_catalog(2)], [a_catalog(3)], []):
        assert isinstance(looked(FakeCluster([failed, *catalogs]), CONFIG_MAP).result, Broken)


def test_a_job_without_label_counts_when_no_other_does() -> None:
    """catalog.md 5.3.1 and 8.13.154: a Job of that name from an older version, even without the label."""
    failed = a_job(condition="Failed", reason="DeadlineExceeded", minutes_ago=1)
    del failed["metadata"]["labels"]
    seen = looked(FakeCluster([failed]), CONFIG_MAP).result
    assert isinstance(seen, Broken)
    assert (seen.reason, seen.job.name) == ("DeadlineExceeded", HASH)
