"""`k8s/keda`: as many workers as the age of the backlog asks for, on clusters with KEDA and without Knative.

Decision: KEDA reads the age from the watcher's own `/metrics`, so no Prometheus is needed. One worker stays: an install
waits for nobody. Turned down: the number of jobs (hundreds that take a millisecond each are no reason to grow).
"""

from __future__ import annotations

import json
from typing import Final

from eventing.deploy.base import PORT
from eventing.deploy.network import from_namespaces, policy, tcp
from eventing.deploy.pods import named
from eventing.deploy.rbac import NAMESPACE, WATCHER, WORKER
from shared.api.manifest import Manifest
from shared.telemetry import Metric

TARGET_SECONDS: Final = 5
"""A worker is added while the job that came first waits for longer."""
MOST: Final = 6
PLACES: Final = ("keda", "openshift-keda")
"""The namespaces where KEDA usually is; another one gets the label `metrics: enabled`."""


def files() -> dict[str, list[Manifest]]:
    """File name to objects."""
    scaled = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": WORKER, "namespace": NAMESPACE},
        "spec": {
            "scaleTargetRef": {"name": WORKER},
            "pollingInterval": 5,
            "cooldownPeriod": 120,
            "minReplicaCount": 1,
            "maxReplicaCount": MOST,
            "triggers": [_age(lane) for lane in ("direct", "long")],
        },
    }
    asks = {**from_namespaces(*PLACES), **tcp(PORT)}
    reads = policy(f"{WATCHER}-keda", [asks], [], {"matchLabels": named(WATCHER)})
    return {"100-scaled-object.yaml": [scaled], "200-network-policy.yaml": [reads]}


def patches() -> list[Manifest]:
    """For kustomize: the number of workers is KEDA's to say."""
    change = [{"op": "remove", "path": "/spec/replicas"}]
    return [{"target": {"kind": "Deployment", "name": WORKER}, "patch": json.dumps(change)}]


def _age(lane: str) -> Manifest:
    return {
        "type": "metrics-api",
        "metricType": "Value",
        "metadata": {
            "url": f"http://{WATCHER}.{NAMESPACE}.svc:{PORT}/metrics",
            "format": "prometheus",
            "valueLocation": f'{Metric.olmf_queue_oldest_seconds.name}{{lane="{lane}"}}',
            "targetValue": str(TARGET_SECONDS),
        },
    }
