"""A webhook with `failurePolicy: Fail` that does not answer keeps operators from starting: it is named."""

from __future__ import annotations

import pytest

from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_SERVICE_VERSION, INSTALL_PLAN, VALIDATING_WEBHOOKS, Kind, Ref
from tests.kit.installation import Installation, a_namespace, a_subscription, an_operator_group
from tests.kit.waiting import wait_for

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


BLOCKED = [
    pytest.param("", "serviceaccounts", INSTALL_PLAN, id="ServiceAccounts, which a plan makes"),
    pytest.param("apps", "deployments", CLUSTER_SERVICE_VERSION, id="Deployments"),
    pytest.param("", "pods", CLUSTER_SERVICE_VERSION, id="Pods, which the cluster makes"),
]
"""API group and plural, and the kind that tells of it."""


@pytest.mark.parametrize(("group", "resource", "teller"), BLOCKED)
def test_a_webhook_that_holds_an_operator_up_is_named_until_it_goes(
    installation: Installation, group: str, resource: str, teller: Kind
) -> None:
    """csv.md 4.3-2: by the version or its plan, and by `olmf why`; then the installation goes on by itself."""
    namespace = f"held-up-{resource}"
    installation.apply(a_namespace(namespace), configuration := a_configuration(namespace, group, resource))
    hook = Ref.of(configuration)
    try:
        installation.apply(an_operator_group(namespace, targets=(namespace,)), a_subscription("tide", namespace))
        wait_for(lambda: any(HOOK in one for one in messages(installation, teller, namespace)), f"words about {HOOK}")
        wait_for(
            lambda: HOOK in installation.olmf("why", "-n", namespace, check=False).stdout, "the same by `olmf why`"
        )
    finally:
        installation.cluster.delete(hook)
    installation.until_phase("tide.v1.0.0", namespace)


def messages(installation: Installation, kind: Kind, namespace: str) -> list[str]:
    """What the statuses of all objects of a kind say."""
    found = installation.cluster.list(kind, namespace)
    return [(one.get("status") or {}).get("message", "") for one in found]
