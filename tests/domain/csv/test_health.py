from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv, Deployment
from shared.domain.csv.deployments import desired_deployments
from shared.domain.csv.health import first_problem, rollout
from tests.domain.csv.builders import a_component, a_csv

AVAILABLE = {"type": "Available", "status": "True"}


def a_deployment(generation: int = 1, observed: int = 1, *conditions: Manifest, **status: Any) -> Manifest:
    state = {"observedGeneration": observed, "conditions": list(conditions), **status}
    return {"metadata": {"name": "foo", "generation": generation}, "status": state}


OVERDUE = {"type": "Progressing", "reason": "ProgressDeadlineExceeded"}
REFUSED = {"type": "ReplicaFailure", "status": "True", "message": "failed calling webhook"}
NOT_AVAILABLE = 'deployment "foo" not available: '


@pytest.mark.parametrize(
    ("deployment", "is_ready", "is_overdue", "message"),
    [
        pytest.param(
            a_deployment(1, 1, OVERDUE), False, True, 'deployment "foo" exceeded its progress deadline',
            id="csv.md 18 row 210: the deadline passed",
        ),
        pytest.param(
            a_deployment(1, 1, {"type": "Progressing", "reason": "Other"}, AVAILABLE), True, False,
            'deployment "foo" is up-to-date and available', id="csv.md 18 row 211: another reason",
        ),
        pytest.param(
            a_deployment(1, 1, AVAILABLE, replicas=2, updatedReplicas=2, availableReplicas=1, unavailableReplicas=1),
            True, False, 'deployment "foo" is up-to-date and available', id="csv.md 6.4-5 and 18 row 77: one pod down",
        ),
        pytest.param(
            a_deployment(1, 0, OVERDUE), False, False,
            'waiting for spec update of deployment "foo" to be observed...', id="csv.md 18 row 212: not observed",
        ),
        pytest.param(
            a_deployment(1, 1, AVAILABLE, replicas=5, updatedReplicas=3), False, False,
            'deployment "foo" waiting for 2 outdated replica(s) to be terminated', id="csv.md 18 row 213: old replicas",
        ),
        pytest.param(
            a_deployment(), False, False, NOT_AVAILABLE + 'missing condition "Available"',
            id="csv.md 18 row 214: no conditions",
        ),
        pytest.param(
            a_deployment(1, 1, {"type": "Available", "status": "False", "message": "m"}), False, False,
            NOT_AVAILABLE + "m", id="csv.md 18 row 215: not available",
        ),
        pytest.param(
            a_deployment(1, 1, {"type": "Available", "status": "Unknown", "message": "m"}), False, False,
            NOT_AVAILABLE + "m", id="csv.md 18 row 216: unknown",
        ),
        pytest.param(
            a_deployment(1, 1, AVAILABLE), True, False, 'deployment "foo" is up-to-date and available',
            id="csv.md 18 row 217: available",
        ),
        pytest.param(
            a_deployment(1, 1, {"type": "Available", "status": "False", "message": "m"}, REFUSED), False, False,
            NOT_AVAILABLE + "m (its pods are refused: failed calling webhook)", id="a webhook refuses its pods",
        ),
        pytest.param(
            a_deployment(1, 1, AVAILABLE, REFUSED, replicas=2, updatedReplicas=1), False, False,
            'deployment "foo" waiting for 1 outdated replica(s) to be terminated '
            "(its pods are refused: failed calling webhook)",
            id="a webhook refuses its new pods",
        ),
        pytest.param(
            a_deployment(
                1, 1, {"type": "Available", "status": "False", "message": "failed calling webhook"}, REFUSED
            ), False, False, NOT_AVAILABLE + "failed calling webhook", id="the refusal is told already",
        ),
    ],
)  # fmt: skip
def test_rollout(deployment: Manifest, is_ready: bool, is_overdue: bool, message: str) -> None:
    found = rollout(Deployment(deployment))
    assert (found.is_ready, found.is_overdue, found.message) == (is_ready, is_overdue, message)


CSV = a_csv(strategy={"deployments": [a_component("one"), a_component("two")]}, annotations={"k": "v"})


def live(**changes: Any) -> list[Manifest]:
    """The Deployments of the version, all well but for the changes to the one called `one`."""
    found = []
    for desired in desired_deployments(Csv(CSV), ()):
        state = {"observedGeneration": 0, "conditions": [AVAILABLE]}
        found.append({**desired, "status": state})
    found[0] = {**found[0], **changes}
    return found


def annotated(annotations: Manifest) -> Manifest:
    return {"template": {"metadata": {"annotations": annotations}}}


def labelled(**labels: str) -> Manifest:
    return {"name": "one", "namespace": "ns", "labels": labels}


@pytest.mark.parametrize(
    ("deployments", "kind", "message"),
    [
        pytest.param(live()[1:], "missing", "missing deployment with name=one", id="csv.md 6.5: ComponentMissing"),
        pytest.param(
            live(status={"conditions": [OVERDUE]}), "stuck",
            'deployment one not ready before timeout: deployment "one" exceeded its progress deadline',
            id="csv.md 6.5: Timeout",
        ),
        pytest.param(
            live(status={}), "waiting",
            'waiting for deployment one to become ready: deployment "one" not available: missing condition "Available"',
            id="csv.md 6.5: Waiting",
        ),
        pytest.param(
            live(status={"conditions": [AVAILABLE], "replicas": 2, "updatedReplicas": 1}), "rolling",
            "waiting for deployment one to become ready", id="csv.md 6.5: Waiting, and available meanwhile",
        ),
        pytest.param(
            live(spec=annotated({})), "outdated", "no annotations found on deployment",
            id="csv.md 6.5: AnnotationsMissing, none at all",
        ),
        pytest.param(
            live(spec=annotated({"x": "y"})), "outdated",
            "annotations on deployment does not contain expected key: k", id="csv.md 6.5: AnnotationsMissing, the key",
        ),
        pytest.param(
            live(spec=annotated({"k": "w"})), "outdated",
            "unexpected annotation on deployment. Expected k:v, found k:w",
            id="csv.md 6.5: AnnotationsMissing, another value",
        ),
        pytest.param(
            live(metadata=labelled()), "outdated", "deployment one doesn't have a spec hash, update it",
            id="csv.md 6.5: DeploymentUpdated, no hash",
        ),
        pytest.param(
            live(metadata=labelled(**{"olm.deployment-spec-hash": "old"}), status={}), "outdated",
            "deployment changed old hash=old, new hash=", id="csv.md 6.5 and 19-13: the wanted spec is compared first",
        ),
    ],
)  # fmt: skip
def test_first_problem(deployments: list[Manifest], kind: str, message: str) -> None:
    problem = first_problem(Csv(CSV), desired_deployments(Csv(CSV), ()), Deployment.each(deployments))
    assert problem
    assert problem.kind == kind
    assert problem.message.startswith(message)


def test_no_problem_when_all_deployments_are_well_csv_md_6_5() -> None:
    assert first_problem(Csv(CSV), desired_deployments(Csv(CSV), ()), Deployment.each(live())) is None


def test_a_version_without_annotations_expects_none() -> None:
    bare = a_csv(annotations={})
    desired = desired_deployments(Csv(bare), ())
    found = [{**desired[0], "status": {"conditions": [AVAILABLE]}}]
    assert first_problem(Csv(bare), desired, Deployment.each(found)) is None
