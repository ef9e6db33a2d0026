from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from eventing.local.kubelet import jobs
from eventing.local.kubelet.jobs import Progress, Task
from shared import kinds
from shared.api.manifest import Manifest

NOW = datetime(2026, 1, 1, tzinfo=UTC)
META = {"name": "j", "namespace": "olm", "uid": "u", "creationTimestamp": "2025-12-31T23:59:00Z"}


def a_job(*command: str, spec: Any = None, status: Any = None, annotations: Any = None, **pod: Any) -> Manifest:
    container = {"name": "c", "image": "any", "command": list(command), **pod.pop("container", {})}
    template = {"spec": {"containers": [{"name": "first", "image": "other"}, container], **pod}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {**META, "annotations": annotations or {}},
        "spec": {"template": template, **(spec or {})},
        "status": status or {},
    }


def a_task(**changed: Any) -> Task:
    facts: dict[str, Any] = {
        "ref": kinds.JOB.ref("j", "olm"), "uid": "u", "job": {}, "retries": 6, "deadline": None, "failure": "",
    }  # fmt: skip
    return Task(**{**facts, **changed})


ENDED = {"conditions": [{"type": "Failed", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}


@pytest.mark.parametrize(
    ("job", "want"),
    [
        pytest.param(a_job("olmf", "unpack"), a_task(), id="the last container's command is ours, whatever its image"),
        pytest.param(
            a_job("olmf", "unpack", spec={"backoffLimit": 3, "activeDeadlineSeconds": 600}),
            a_task(retries=3, deadline=timedelta(minutes=10)),
            id="catalog.md 5.1: backoffLimit and activeDeadlineSeconds",
        ),
        pytest.param(
            a_job("olmf", "unpack", annotations={"olmf.io/fail": "no"}), a_task(failure="no"), id="told to fail"
        ),
        pytest.param(a_job("sh"), None, id="a program that is not ours"),
        pytest.param(a_job(), None, id="the image's own program"),
        pytest.param(a_job("olmf", spec={"suspend": True}), None, id="a suspended Job"),
        pytest.param(a_job("olmf", status=ENDED), None, id="a Job that has ended"),
    ],
)
def test_what_a_job_asks_for(job: Manifest, want: Task | None) -> None:
    assert jobs.task_of(job) == (want and replace(want, job=job))


def test_a_job_is_taken_up_where_it_was_left() -> None:
    job = a_job("olmf", status={"startTime": "2025-12-31T23:59:00Z", "failed": 2})
    assert jobs.begun(job, NOW) == Progress(NOW - timedelta(minutes=1), failures=2)
    assert jobs.begun(a_job("olmf"), NOW) == Progress(NOW)


@pytest.mark.parametrize(
    ("seconds", "status", "want"),
    [
        pytest.param(
            300, ENDED, NOW + timedelta(minutes=5), id="catalog.md 5.1: ttlSecondsAfterFinished after the end"
        ),
        pytest.param(300, {}, None, id="not before the end"),
        pytest.param(300, {"conditions": [{"status": "True"}]}, None, id="a condition without a type"),
        pytest.param(
            300,
            {"conditions": [{"type": "Complete", "status": "True"}]},
            NOW + timedelta(minutes=4),
            id="an end without a time counts from the creation",
        ),
        pytest.param(None, ENDED, None, id="never, when it does not say"),
    ],
)
def test_when_a_job_is_removed(seconds: int | None, status: Any, want: datetime | None) -> None:
    spec = {} if seconds is None else {"ttlSecondsAfterFinished": seconds}
    assert jobs.removal_due(a_job("olmf", spec=spec, status=status)) == want


def test_the_end_reports_why() -> None:
    progress = Progress(NOW, failures=4, output="image not found")
    status = jobs.failed(progress, "BackoffLimitExceeded", NOW)
    assert [(c["type"], c["reason"], c["message"]) for c in status["conditions"]] == [
        (kind, "BackoffLimitExceeded", "Job has reached the specified backoff limit: image not found")
        for kind in ("FailureTarget", "Failed")
    ]
    assert (status["failed"], status["startTime"], status["active"]) == (4, "2026-01-01T00:00:00Z", None)


def test_success_counts_one() -> None:
    status = jobs.complete(Progress(NOW, failures=1), NOW + timedelta(seconds=3))
    assert [c["type"] for c in status["conditions"]] == ["SuccessCriteriaMet", "Complete"]
    assert (status["succeeded"], status["failed"], status["completionTime"]) == (1, 1, "2026-01-01T00:00:03Z")
