"""`k8s/keda`: as many workers as the age of the backlog asks for, on clusters with KEDA and without Knative.

Decision: KEDA reads the age from the watcher's own `/metrics`, so no Prometheus is needed. One worker stays: an install
waits for nobody, and `kubectl exec deploy/olmf-worker` finds one. Who wants none at rest sets `minReplicaCount` to 0:
the last one stays while something runs, because a pull of minutes waits for nobody and so has no age.
Turned down: the number of jobs (hundreds that take a millisecond each are no reason to grow).
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
NEVER: Final = 1_000_000
"""So many workers' worth of running jobs would add one: that something runs keeps a worker, and adds none."""
MOST: Final = 6
REST_SECONDS: Final = 120
"""What was added goes after so long without need: of many all but one by the autoscaler, the last one by KEDA."""
LANES: Final = ("direct", "long")
RUNNING: Final = Metric.olmf_queue_running.name
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
            "cooldownPeriod": REST_SECONDS,
            "minReplicaCount": 1,
            "maxReplicaCount": MOST,
            "advanced": {
                "horizontalPodAutoscalerConfig": {
                    "behavior": {"scaleDown": {"stabilizationWindowSeconds": REST_SECONDS}}
                }
            },
            "triggers": [*(_more_while(_age(lane), TARGET_SECONDS) for lane in LANES), _more_while(RUNNING, NEVER)],
        },
    }
    asks = {**from_namespaces(*PLACES), **tcp(PORT)}
    reads = policy(f"{WATCHER}-keda", [asks], [], {"matchLabels": named(WATCHER)})
    return {"100-scaled-object.yaml": [scaled], "200-network-policy.yaml": [reads]}


def patches() -> list[Manifest]:
    """For kustomize: the number of workers is KEDA's to say."""
    change = [{"op": "remove", "path": "/spec/replicas"}]
    return [{"target": {"kind": "Deployment", "name": WORKER}, "patch": json.dumps(change)}]


def _age(lane: str) -> str:
    return f'{Metric.olmf_queue_oldest_seconds.name}{{lane="{lane}"}}'


def _more_while(series: str, exceeds: int) -> Manifest:
    """A trigger: active while the series is not 0, and asking for more workers while it exceeds the target."""
    return {
        "type": "metrics-api",
        "metricType": "Value",
        "metadata": {
            "url": f"http://{WATCHER}.{NAMESPACE}.svc:{PORT}/metrics",
            "format": "prometheus",
            "valueLocation": series,
            "targetValue": str(exceeds),
        },
    }
