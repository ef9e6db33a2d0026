"""Who is told that an unpack Job ended."""

from __future__ import annotations

import pytest

from functions.bundle.collect_bundle import collect_bundle
from shared import kinds
from shared.api.manifest import Manifest
from shared.ports import Policy
from tests.functions.subscription.world import World, a_subscription

UNPACKING = {"conditions": [{"type": "BundleUnpacking", "status": "True"}]}
COMPLETE = {"conditions": [{"type": "Complete", "status": "True"}]}


def told(job_namespace: str, job_status: Manifest | None) -> list[str]:
    """The namespaces told, of one that waits for a global bundle, one for its own, and one that waits for nothing."""
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "h", "namespace": job_namespace}}
    world = World(
        a_subscription(namespace="a") | {"status": UNPACKING},
        a_subscription(namespace="b", sourceNamespace="b") | {"status": UNPACKING},
        a_subscription(namespace="c"),
        *([] if job_status is None else [job | {"status": job_status}]),
    )
    outcome = collect_bundle(kinds.JOB.ref("h", job_namespace), world, Policy())
    return [emit.ref.name for emit in outcome.emits]


@pytest.mark.parametrize(
    ("namespace", "status", "want"),
    [
        pytest.param("olm", COMPLETE, ["a"], id="a Job beside a global catalog ended"),
        pytest.param("b", COMPLETE, ["b"], id="a Job beside a catalog of a namespace ended"),
        pytest.param("olm", None, ["a"], id="a Job that is gone counts as ended"),
        pytest.param("olm", {}, [], id="a Job that has just begun tells nobody"),
    ],
)
def test_waiting_namespaces_are_told(namespace: str, status: Manifest | None, want: list[str]) -> None:
    assert told(namespace, status) == want
