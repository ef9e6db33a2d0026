"""What the cluster says about the head version of a package, as one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from shared.kinds import CLUSTER_SERVICE_VERSION, INSTALL_PLAN, SUBSCRIPTION
from tests.kit.installation import Installation

SUCCEEDED = "Succeeded"
BLOCKING = ("ResolutionFailed", "BundleUnpackFailed", "InstallPlanFailed", "InstallPlanMissing", "BundleUnpacking")
"""Conditions of a Subscription that say, in the order of their weight, what it waits for."""

NEEDS = "requires an operator with package: "
EXPECTED = {
    "ack-rds-controller": SUCCEEDED,
    "ack-s3-controller": SUCCEEDED,
    "argocd-operator": SUCCEEDED,
    "authorino-operator": SUCCEEDED,
    "cert-manager": SUCCEEDED,
    "dbaas-operator": f"{NEEDS}ack-rds-controller",
    "dns-operator": SUCCEEDED,
    "etcd": SUCCEEDED,
    "grafana-operator": SUCCEEDED,
    "hive-operator": SUCCEEDED,
    "infinispan": SUCCEEDED,
    "jaeger": SUCCEEDED,
    "keda": SUCCEEDED,
    "keycloak-operator": SUCCEEDED,
    "kuadrant-operator": f"{NEEDS}authorino-operator",
    "limitador-operator": SUCCEEDED,
    "opendatahub-operator": SUCCEEDED,
    "opentelemetry-operator": SUCCEEDED,
    "prometheus": SUCCEEDED,
    "rabbitmq-cluster-operator": SUCCEEDED,
    "rabbitmq-messaging-topology-operator": SUCCEEDED,
    "service-binding-operator": SUCCEEDED,
    "strimzi-kafka-operator": SUCCEEDED,
    "tempo-operator": SUCCEEDED,
}
"""Package to what its verdict must contain."""


def result(installation: Installation, package: str, namespace: str, head: str) -> str:
    """`Succeeded`, or the sentences of the ClusterServiceVersion, the InstallPlan and the Subscription."""
    csv = installation.cluster.get(CLUSTER_SERVICE_VERSION.ref(head, namespace))
    status = (csv or {}).get("status") or {}
    if status.get("phase") == SUCCEEDED:
        return SUCCEEDED
    subscription = installation.cluster.get(SUBSCRIPTION.ref(package, namespace)) or {}
    output = [*_of_csv(status), *_of_plan(installation, subscription), *_of_subscription(subscription)]
    return " / ".join(output)


def _of_csv(status: dict[str, Any]) -> Iterator[str]:
    if status.get("message"):
        yield f"{status.get('phase')}: {status['message']}"
    for requirement in status.get("requirementStatus") or ():
        if requirement.get("status") not in ("Present", "Created"):
            yield f"{requirement['kind']} {requirement['name']}: {requirement.get('message', requirement['status'])}"


def _of_plan(installation: Installation, subscription: dict[str, Any]) -> Iterator[str]:
    ref = (subscription.get("status") or {}).get("installPlanRef")
    plan = installation.cluster.get(INSTALL_PLAN.ref(ref["name"], ref["namespace"])) if ref else None
    for condition in ((plan or {}).get("status") or {}).get("conditions") or ():
        if condition.get("status") == "False" and condition.get("message"):
            yield f"InstallPlan: {condition['message']}"


def _of_subscription(subscription: dict[str, Any]) -> Iterator[str]:
    conditions = (subscription.get("status") or {}).get("conditions") or ()
    for kind in BLOCKING:
        for condition in conditions:
            if condition["type"] == kind and condition["status"] == "True":
                yield f"{kind}: {condition.get('message') or condition.get('reason')}"
