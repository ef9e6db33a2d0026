from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from eventing.local.kubelet.deployments import simulated_status
from shared.api.manifest import Manifest

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
FAIL = {"annotations": {"olmf.io/fail": "no such image"}}


def a_deployment(*, replicas: int | None = None, metadata: Any = None, template: Any = None, **more: Any) -> Manifest:
    spec: Manifest = {"template": {"metadata": template or {}}}
    if replicas is not None:
        spec["replicas"] = replicas
    return {"metadata": {"generation": 3, **(metadata or {})}, "spec": spec, **more}


def facts(status: Manifest | None) -> Any:
    """Counts, and condition types with their status."""
    assert status is not None
    counts = {key: value for key, value in status.items() if key != "conditions"}
    return counts, {condition["type"]: condition["status"] for condition in status["conditions"]}


WELL = {"Available": "True", "Progressing": "True"}
UNHEALTHY = {"Available": "False", "Progressing": "False"}


@pytest.mark.parametrize(
    ("deployment", "want"),
    [
        pytest.param(
            a_deployment(),
            (
                {
                    "observedGeneration": 3,
                    "replicas": 1,
                    "updatedReplicas": 1,
                    "readyReplicas": 1,
                    "availableReplicas": 1,
                },
                WELL,
            ),
            id="one replica unless it says otherwise",
        ),
        pytest.param(
            a_deployment(replicas=0), ({"observedGeneration": 3}, WELL), id="no replicas wanted, none unavailable"
        ),
        pytest.param(
            a_deployment(replicas=2, metadata=FAIL),
            ({"observedGeneration": 3, "replicas": 2, "updatedReplicas": 2, "unavailableReplicas": 2}, UNHEALTHY),
            id="told to fail by its annotation",
        ),
        pytest.param(
            a_deployment(template=FAIL),
            ({"observedGeneration": 3, "replicas": 1, "updatedReplicas": 1, "unavailableReplicas": 1}, UNHEALTHY),
            id="told to fail by the annotation of its pods",
        ),
    ],
)
def test_the_status_of_a_deployment(deployment: Manifest, want: Any) -> None:
    assert facts(simulated_status(deployment, NOW)) == want


def test_a_failure_reports_why() -> None:
    status = simulated_status(a_deployment(metadata=FAIL), NOW)
    assert status is not None
    assert {(condition["reason"], condition["message"]) for condition in status["conditions"]} == {
        ("MinimumReplicasUnavailable", "no such image"),
        ("ProgressDeadlineExceeded", "no such image"),
    }


def test_nothing_is_written_twice() -> None:
    deployment = a_deployment()
    deployment["status"] = simulated_status(deployment, NOW)
    assert simulated_status(deployment, LATER) is None


def test_a_new_generation_is_observed_and_the_conditions_keep_their_times() -> None:
    status = simulated_status(a_deployment(), NOW)
    again = simulated_status(a_deployment(metadata={"generation": 4}, status=status), LATER)
    assert status is not None
    assert again == {**status, "observedGeneration": 4}


def test_a_repaired_deployment_turns_its_conditions() -> None:
    failed = simulated_status(a_deployment(metadata=FAIL), NOW)
    status = simulated_status(a_deployment(status=failed), LATER)
    assert facts(status)[1] == WELL
    assert status is not None
    assert {condition["lastTransitionTime"] for condition in status["conditions"]} == {"2026-01-01T00:01:00Z"}


def test_a_condition_without_a_type_does_not_stay() -> None:
    _, conditions = facts(simulated_status(a_deployment(status={"conditions": [{"status": "True"}]}), NOW))
    assert conditions == WELL
