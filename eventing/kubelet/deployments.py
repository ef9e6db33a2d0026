"""Computes the status of a Deployment as if its Pods were available, or could not become available; no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from shared.api.manifest import Manifest, ReadOnly, annotations_of, metadata, timestamp
from shared.names import KUBELET_FAIL

AVAILABLE = "Available"
PROGRESSING = "Progressing"


def wanted_status(deployment: ReadOnly, now: datetime) -> Manifest | None:
    """The status to be written; None when the Deployment has it already."""
    replicas = _replicas(deployment)
    failure = _failure(deployment)
    present: ReadOnly = deployment.get("status") or {}
    counts = {"observedGeneration": metadata(deployment).get("generation", 1)}
    if replicas:
        counts |= {"replicas": replicas, "updatedReplicas": replicas}
        counts |= (
            {"unavailableReplicas": replicas} if failure else {"readyReplicas": replicas, "availableReplicas": replicas}
        )
    kept = {key: present[key] for key in ("collisionCount",) if key in present}
    status = {**kept, **counts, "conditions": _conditions(failure, present.get("conditions") or (), now)}
    return None if status == dict(present) else status


def _replicas(deployment: ReadOnly) -> int:
    return int((deployment.get("spec") or {}).get("replicas", 1))


def _failure(deployment: ReadOnly) -> str:
    template = (deployment.get("spec") or {}).get("template") or {}
    return annotations_of(deployment).get(KUBELET_FAIL) or annotations_of(template).get(KUBELET_FAIL, "")


def _conditions(failure: str, before: Sequence[ReadOnly], now: datetime) -> list[Manifest]:
    if failure:
        facts = [
            (AVAILABLE, "False", "MinimumReplicasUnavailable", failure),
            (PROGRESSING, "False", "ProgressDeadlineExceeded", failure),
        ]
    else:
        facts = [
            (AVAILABLE, "True", "MinimumReplicasAvailable", "Deployment has minimum availability."),
            (PROGRESSING, "True", "NewReplicaSetAvailable", "The stand-in for the kubelet says that it runs."),
        ]
    known = {condition.get("type"): condition for condition in before}
    return [_condition(fact, known.get(fact[0]), now) for fact in facts]


def _condition(fact: tuple[str, str, str, str], before: ReadOnly | None, now: datetime) -> Manifest:
    stamp = timestamp(now)
    condition = dict(zip(("type", "status", "reason", "message"), fact, strict=True))
    if before and all(before.get(key) == value for key, value in condition.items()):
        return dict(before)
    since = before.get("lastTransitionTime") if before and before.get("status") == condition["status"] else None
    return {**condition, "lastUpdateTime": stamp, "lastTransitionTime": since or stamp}
