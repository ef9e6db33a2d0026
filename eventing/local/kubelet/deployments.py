"""Computes the status of a Deployment whose Pods are available, or cannot become so; no I/O."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeAlias

from eventing.local.kubelet.needs import Obstacle
from shared.api.manifest import Manifest, ReadOnly, annotations_of, instant, metadata, timestamp
from shared.names import KUBELET_FAIL

AVAILABLE = "Available"
PROGRESSING = "Progressing"
REPLICA_FAILURE = "ReplicaFailure"
FAILED_CREATE = "FailedCreate"
LATE = "ProgressDeadlineExceeded"
Facts: TypeAlias = tuple[tuple[str, str, str, str], ...]
"""Type, status, reason and message of each condition."""


def simulated_status(deployment: ReadOnly, now: datetime, obstacle: Obstacle | None = None) -> Manifest | None:
    """The status to be written; None when the Deployment has it already. `obstacle` keeps its Pods from running."""
    replicas = replicas_of(deployment)
    obstacle = _failure_on_demand(deployment) or obstacle
    present: ReadOnly = deployment.get("status") or {}
    counts = {"observedGeneration": metadata(deployment).get("generation", 1)}
    if replicas and not (obstacle and obstacle.event == FAILED_CREATE):
        counts |= {"replicas": replicas, "updatedReplicas": replicas}
    if replicas:
        counts |= (
            {"unavailableReplicas": replicas}
            if obstacle
            else {"readyReplicas": replicas, "availableReplicas": replicas}
        )
    kept = {key: present[key] for key in ("collisionCount",) if key in present}
    known = {condition.get("type"): condition for condition in present.get("conditions") or ()}
    facts = _facts(obstacle if replicas else None, deployment, known.get(PROGRESSING), now)
    conditions = [_condition(fact, known.get(fact[0]), now) for fact in facts]
    status = {**kept, **counts, "conditions": conditions}
    return None if status == dict(present) else status


def replicas_of(deployment: ReadOnly) -> int:
    """How many Pods a Deployment wants."""
    return int((deployment.get("spec") or {}).get("replicas", 1))


def _failure_on_demand(deployment: ReadOnly) -> Obstacle | None:
    template = (deployment.get("spec") or {}).get("template") or {}
    message = annotations_of(deployment).get(KUBELET_FAIL) or annotations_of(template).get(KUBELET_FAIL, "")
    return Obstacle("BackOff", "CrashLoopBackOff", message, lasts=True) if message else None


def _facts(obstacle: Obstacle | None, deployment: ReadOnly, before: ReadOnly | None, now: datetime) -> Facts:
    if obstacle is None:
        return (
            (AVAILABLE, "True", "MinimumReplicasAvailable", "Deployment has minimum availability."),
            (PROGRESSING, "True", "NewReplicaSetAvailable", "The stand-in for the kubelet says that it runs."),
        )
    unavailable = (AVAILABLE, "False", "MinimumReplicasUnavailable", obstacle.message)
    if obstacle.lasts or _is_late(deployment, before, now):
        return (unavailable, (PROGRESSING, "False", LATE, obstacle.message))
    refused = ((REPLICA_FAILURE, "True", FAILED_CREATE, obstacle.message),) if obstacle.event == FAILED_CREATE else ()
    return (unavailable, (PROGRESSING, "True", "ReplicaSetUpdated", obstacle.message), *refused)


def _is_late(deployment: ReadOnly, before: ReadOnly | None, now: datetime) -> bool:
    """Whether the Pods did not start for longer than the Deployment gives them."""
    if before is None or before.get("reason") == LATE:
        return before is not None
    seconds = (deployment.get("spec") or {}).get("progressDeadlineSeconds", 600)
    since = instant(before.get("lastUpdateTime"))
    return (
        before.get("reason") == "ReplicaSetUpdated" and since is not None and now - since > timedelta(seconds=seconds)
    )


def _condition(fact: tuple[str, str, str, str], before: ReadOnly | None, now: datetime) -> Manifest:
    stamp = timestamp(now)
    condition = dict(zip(("type", "status", "reason", "message"), fact, strict=True))
    if before and all(before.get(key) == value for key, value in condition.items()):
        return dict(before)
    since = before.get("lastTransitionTime") if before and before.get("status") == condition["status"] else None
    return {**condition, "lastUpdateTime": stamp, "lastTransitionTime": since or stamp}
