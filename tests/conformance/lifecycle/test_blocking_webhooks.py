"""A webhook with `failurePolicy: Fail` that does not answer keeps operators from starting: it is named."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_SERVICE_VERSION, VALIDATING_WEBHOOKS
from tests.kit.installation import Installation, a_subscription, an_operator_group

HOOK = "nobody.hooks.example.com"


def a_configuration(namespace: str, group: str, resource: str) -> Manifest:
    """Its Service is in no cluster; it is about this namespace only."""
    webhook = {
        "name": HOOK, "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
        "clientConfig": {"service": {"name": "nobody", "namespace": namespace}},
        "rules": [{"apiGroups": [group], "apiVersions": ["v1"], "resources": [resource], "operations": ["CREATE"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
    }  # fmt: skip
    kind = VALIDATING_WEBHOOKS
    meta = {"name": f"{namespace}-{resource}"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "webhooks": [webhook]}


BLOCKED = [pytest.param(("", "pods"), id="pods")]


@pytest.fixture(params=BLOCKED)
def blocked(installation: Installation, namespace: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace in which nobody can create these objects, until the test ends it."""
    installation.apply(configuration := a_configuration(namespace, *request.param))
    ref = VALIDATING_WEBHOOKS.ref(configuration["metadata"]["name"])
    yield namespace
    if installation.cluster.get(ref):
        installation.cluster.delete(ref)


def test_a_webhook_that_keeps_an_operator_from_starting_is_named(installation: Installation, blocked: str) -> None:
    """By the version, and by `olmf why`."""
    csv = CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", blocked)
    installation.apply(an_operator_group(blocked, targets=(blocked,)), a_subscription("tide", blocked))
    installation.until(csv, lambda found: HOOK in found["status"]["message"], HOOK)
    assert HOOK in installation.olmf("why", f"ClusterServiceVersion/{csv.name}", "-n", blocked, check=False).stdout
