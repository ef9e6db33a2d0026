"""Why an unpack Job does not come to its end, as its Events and its Pods say."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shared import kinds
from shared.api.manifest import Manifest, metadata, name_of, uid_of
from shared.api.views import ConfigMap, Job, Pod
from shared.domain.unpack.causes import causes, event_objects
from shared.domain.unpack.report import report
from shared.domain.unpack.result import Broken, Running
from shared.reading.unpacking import read_unpacking
from tests.domain.unpack.test_unpack import DESIRED, HASH, NOW, a_job
from tests.kit.cluster import FakeCluster

JOB = a_job(minutes_ago=0.1)
REFUSED = (
    f'Error creating: pods "{HASH}-abcde" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true'
)
QUOTA = f'Error creating: pods "{HASH}-fghij" is forbidden: exceeded quota: small, requested: pods=1, limited: pods=0'


def an_event(about: Manifest, kind: str, reason: str, message: str, *, second: int = 0, **fields: object) -> Manifest:
    meant = {"kind": kind, "name": name_of(about), "namespace": "olm", "uid": uid_of(about)}
    return {
        "apiVersion": "v1", "kind": "Event", "type": "Warning", "involvedObject": meant,
        "metadata": {"name": f"e-{kind}-{reason}-{second}", "namespace": "olm"}, "reason": reason, "message": message,
        "lastTimestamp": f"2026-01-01T11:59:{second:02}Z", **fields,
    }  # fmt: skip


def a_pod(name: str = f"{HASH}-abcde", *, waits: tuple[str, str] = ("", ""), **fields: object) -> Manifest:
    reason, message = waits
    waiting = {"waiting": {"reason": reason, "message": message}} if reason else {"running": {}}
    status = {
        "phase": "Pending",
        "containerStatuses": [{"name": "extract", "ready": False, "state": waiting}],
        **fields,
    }
    meta = {"name": name, "namespace": "olm", "uid": f"uid-{name}", "labels": {"job-name": HASH}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {}, "status": status}


def reported(*objects: Manifest, job: Manifest = JOB) -> tuple[str, ...]:
    cluster = FakeCluster(objects)
    pods = cluster.list(kinds.POD, "olm")
    return causes(
        Job(job), Pod.each(pods), {ref: cluster.about(ref, uid) for ref, uid in event_objects(Job(job), Pod.each(pods))}
    )


POD = a_pod()
PULL = 'Failed to pull image "olm-functions:v1": not found'


@pytest.mark.parametrize(
    ("objects", "want"),
    [
        pytest.param([], (), id="nothing is known"),
        pytest.param(
            [an_event(JOB, "Job", "FailedCreate", REFUSED)],
            (f"Job olm/{HASH}: FailedCreate: {REFUSED.replace('abcde', '*')}",),
            id="the pod security of the namespace refuses the Pod",
        ),
        pytest.param(
            [an_event(JOB, "Job", "FailedCreate", REFUSED), an_event(JOB, "Job", "FailedCreate", QUOTA, second=9)],
            (f"Job olm/{HASH}: FailedCreate: {QUOTA.replace('fghij', '*')}",),
            id="a quota: only the newest of a reason is said",
        ),
        pytest.param(
            [POD, an_event(POD, "Pod", "FailedScheduling", "0/3 nodes are available: 3 Insufficient memory.")],
            (f"Pod olm/{HASH}-*: FailedScheduling: 0/3 nodes are available: 3 Insufficient memory.",),
            id="no node has room",
        ),
        pytest.param(
            [POD | {"spec": {"nodeName": "a"}}, an_event(POD, "Pod", "FailedScheduling", "0/3 nodes are available")],
            (),
            id="a node was found meanwhile",
        ),
        pytest.param(
            [
                a_pod(waits=("ImagePullBackOff", 'Back-off pulling image "olm-functions:v1"')),
                an_event(POD, "Pod", "Failed", PULL, second=1),
                an_event(POD, "Pod", "Failed", "Error: ErrImagePull", second=2),
                an_event(POD, "Pod", "BackOff", 'Back-off pulling image "olm-functions:v1"', second=3),
                an_event(POD, "Pod", "Failed", "Error: ImagePullBackOff", second=4),
            ],
            (f"Pod olm/{HASH}-*: Failed: {PULL}",),
            id="an image that cannot be pulled: the cause, and not its echoes",
        ),
        pytest.param(
            [a_pod(waits=("CreateContainerConfigError", 'secret "pull" not found'))],
            (f'Pod olm/{HASH}-*: CreateContainerConfigError: secret "pull" not found',),
            id="without Events the container says it",
        ),
        pytest.param([a_pod(waits=("ContainerCreating", ""))], (), id="a container that is being made is no cause"),
        pytest.param([a_pod()], (), id="a container that runs is no cause"),
        pytest.param(
            [a_pod(reason="Evicted", message="The node was low on resource: memory.")],
            (f"Pod olm/{HASH}-*: Evicted: The node was low on resource: memory.",),
            id="evicted",
        ),
        pytest.param(
            [a_pod(conditions=[{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                                "message": "no"}])],
            (f"Pod olm/{HASH}-*: Unschedulable: no",),
            id="not scheduled, and no Event any more",
        ),
        pytest.param(
            [an_event(a_job() | {"metadata": {**metadata(JOB), "uid": "older"}}, "Job", "FailedCreate", QUOTA)], (),
            id="an Event about an earlier Job of that name",
        ),
        pytest.param(
            [an_event(JOB, "Job", "DeadlineExceeded", "Job was active longer than specified deadline")], (),
            id="what the condition of the Job says, too",
        ),
        pytest.param(
            [POD, *(an_event(POD, "Pod", f"Reason{n}", "m" * 600, second=n) for n in range(12))],
            tuple(f"Pod olm/{HASH}-*: Reason{n}: {'m' * 600}"[:500] for n in (4, 5, 6)),
            id="never more than three, each no longer than 500 characters",
        ),
    ],
)  # fmt: skip
def test_each_cause_is_said_and_stays_the_same(objects: list[Manifest], want: tuple[str, ...]) -> None:
    assert reported(*objects) == want


def test_the_events_of_two_pods_at_most_are_read() -> None:
    pods = [a_pod(f"p{n}") for n in range(9)]
    for n, pod in enumerate(pods):
        pod["metadata"]["creationTimestamp"] = f"2026-01-01T11:59:{n:02}Z"
    asked = event_objects(Job(JOB), Pod.each(pods))
    assert [ref.name for ref, _ in asked] == [HASH, "p7", "p8"]
    assert causes(Job(JOB), Pod.each(pods), {ref: () for ref, _ in asked}) == ()


@pytest.mark.parametrize(
    ("seconds", "is_read", "again"),
    [(0, False, 2), (1, False, 2), (3, True, 3), (9, True, 9), (300, True, 15)],
)
def test_a_job_is_looked_at_soon_and_then_less_and_less(seconds: int, is_read: bool, again: int) -> None:
    job = a_job(minutes_ago=seconds / 60)
    cluster = FakeCluster([job, an_event(job, "Job", "FailedCreate", QUOTA)])
    found = read_unpacking(DESIRED, ConfigMap(DESIRED.config_map()), cluster, NOW, warnings=cluster).result
    assert isinstance(found, Running)
    assert (bool(found.cause), report([found]).again_in) == (is_read, timedelta(seconds=again))


def test_the_condition_says_the_cause() -> None:
    cluster = FakeCluster([JOB, an_event(JOB, "Job", "FailedCreate", QUOTA)])
    condition = report(
        [read_unpacking(DESIRED, ConfigMap(DESIRED.config_map()), cluster, NOW, warnings=cluster).result]
    ).condition
    assert condition is not None
    assert (condition.type, condition.reason) == ("BundleUnpacking", "UnpackingInProgress")
    assert condition.message == (
        f"unpack job not completed: Job olm/{HASH}: FailedCreate: {QUOTA.replace('fghij', '*')}"
    )


def test_a_job_that_failed_says_what_kept_its_pods_away() -> None:
    """Its Pods are gone by then."""
    failed = a_job(condition="Failed", minutes_ago=1, reason="DeadlineExceeded")
    cluster = FakeCluster([failed, an_event(failed, "Job", "FailedCreate", QUOTA)])
    found = read_unpacking(DESIRED, ConfigMap(DESIRED.config_map()), cluster, NOW, warnings=cluster).result
    assert isinstance(found, Broken)
    assert "exceeded quota: small" in found.message
