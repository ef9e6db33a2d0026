"""Pods: made of the template of a workload, and their status from Pending to an end; no I/O."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from eventing.local.kubelet.needs import Obstacle
from shared.api.manifest import (
    Manifest,
    ReadOnly,
    annotations_of,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    timestamp,
    uid_of,
)
from shared.kinds import POD, Ref
from shared.names import KUBELET_FAIL

NODE_NAME = "olmf-simulated-node"
TEMPLATE_HASH = "pod-template-hash"
PROGRAM = "olmf"
HTTPS = 443
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
FINISHED = ("Succeeded", "Failed")
OUTPUT_LENGTH = 800
"""How many characters of a failed program's output are reported."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a program."""

    code: int
    output: str = ""


def pod_of(owner: ReadOnly, labels: Mapping[str, str]) -> Manifest:
    """A Pod for the template of a Deployment or a Job, already assigned to our node; its name is new each time."""
    suffix = "".join(secrets.choice(_ALPHABET) for _ in range(5))
    template = (owner.get("spec") or {}).get("template") or {}
    reference = {
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": name_of(owner), "uid": uid_of(owner),
        "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    meta: Manifest = {
        "name": f"{name_of(owner)[:57].rstrip('.-')}-{suffix}",
        "namespace": namespace_of(owner),
        "labels": {**labels_of(template), **labels},
        "ownerReferences": [reference],
    }
    if annotations := {**_failure_of(owner), **annotations_of(template)}:
        meta["annotations"] = annotations
    spec = {**(template.get("spec") or {}), "nodeName": NODE_NAME}
    return {"apiVersion": POD.api_version, "kind": POD.kind, "metadata": meta, "spec": spec}


def _failure_of(owner: ReadOnly) -> dict[str, str]:
    requested = annotations_of(owner).get(KUBELET_FAIL)
    return {KUBELET_FAIL: requested} if requested else {}


def hash_of(owner: ReadOnly) -> str:
    """A short name for what the Pods of a Deployment are made of."""
    made_of = ((owner.get("spec") or {}).get("template"), annotations_of(owner).get(KUBELET_FAIL))
    return hashlib.sha256(orjson.dumps(made_of, option=orjson.OPT_SORT_KEYS)).hexdigest()[:10]


def job_labels(job: ReadOnly) -> dict[str, str]:
    """The labels that Pods of a Job have besides those of its template."""
    uid, name = uid_of(job), name_of(job)[:63]
    return {
        "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name,
        "controller-uid": uid, "job-name": name,
    }  # fmt: skip


def owner_of(pod: ReadOnly) -> ReadOnly:
    """The owner reference of the controller of a Pod; empty without one."""
    owners: Sequence[ReadOnly] = metadata(pod).get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), {})


def is_ready(pod: ReadOnly) -> bool:
    """Whether the status says that the Pod is Ready."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def requested_failure(pod: ReadOnly, requested: str = "") -> Obstacle | None:
    """The obstacle that an annotation of the Pod, or that of its owner (`requested`), makes."""
    message = annotations_of(pod).get(KUBELET_FAIL, "") or requested
    return Obstacle("BackOff", "CrashLoopBackOff", message, lasts=True) if message else None


def words_of(pod: ReadOnly) -> tuple[str, ...]:
    """The command of the last container."""
    container = container_of(pod)
    return tuple(str(word) for word in [*(container.get("command") or ()), *(container.get("args") or ())])


def is_our_program(pod: ReadOnly) -> bool:
    """Whether the Pod of a Job runs `olmf`, which exists on this machine, too."""
    return words_of(pod)[:1] == (PROGRAM,) and owner_of(pod).get("kind") == "Job"


def container_of(pod: ReadOnly) -> ReadOnly:
    """The last container: the one whose program is run."""
    containers: Sequence[ReadOnly] = (pod.get("spec") or {}).get("containers") or ()
    return containers[-1] if containers else {}


def ports_of(pod: ReadOnly) -> list[int]:
    """The ports of that container; that of HTTPS when it names none."""
    return [int(one["containerPort"]) for one in container_of(pod).get("ports") or ()] or [HTTPS]


def waiting(pod: ReadOnly, obstacle: Obstacle, now: datetime) -> Manifest:
    """The status of a Pod whose containers cannot start."""
    state = {"waiting": {"reason": obstacle.waiting, "message": obstacle.message}}
    return _status(pod, "Pending", state, now, unready="ContainersNotReady")


def running(pod: ReadOnly, now: datetime) -> Manifest:
    """The status of a Pod that is Ready."""
    address = address_of(pod)
    more = {"hostIP": "127.0.0.1", "podIP": address, "podIPs": [{"ip": address}]}
    return {**_status(pod, "Running", {"running": {"startedAt": timestamp(now)}}, now), **more}


def over(pod: ReadOnly, ended: Ended, started: datetime, now: datetime) -> Manifest:
    """The status of a Pod whose program has ended."""
    state = {
        "exitCode": ended.code, "reason": "Error" if ended.code else "Completed",
        "startedAt": timestamp(started), "finishedAt": timestamp(now),
    }  # fmt: skip
    if ended.output:
        state["message"] = ended.output
    phase, reason = ("Failed", "PodFailed") if ended.code else ("Succeeded", "PodCompleted")
    return _status(pod, phase, {"terminated": state}, now, unready=reason)


def address_of(pod: ReadOnly) -> str:
    """An address of the range for tests of networks (RFC 2544) that belongs to this Pod, though nobody listens."""
    number = int(hashlib.sha256(uid_of(pod).encode()).hexdigest()[:4], 16)
    return f"198.18.{number >> 8}.{number & 255}"


def _status(pod: ReadOnly, phase: str, state: Manifest, now: datetime, *, unready: str = "") -> Manifest:
    """`unready` is the reason why the Pod is not Ready; empty when it is."""
    present: ReadOnly = pod.get("status") or {}
    ready = "False" if unready else "True"
    facts = {"PodScheduled": "True", "Initialized": "True", "ContainersReady": ready, "Ready": ready}
    before: Sequence[ReadOnly] = present.get("conditions") or ()
    return {
        "phase": phase,
        "startTime": present.get("startTime") or timestamp(now),
        "conditions": [_condition(fact, before, now, unready=unready) for fact in facts.items()],
        "containerStatuses": list(_containers(pod, state, is_ready=not unready)),
    }


def _containers(pod: ReadOnly, state: Manifest, *, is_ready: bool) -> Iterator[Manifest]:
    for container in (pod.get("spec") or {}).get("containers") or ():
        yield {
            "name": container["name"], "image": container.get("image", ""), "imageID": "", "restartCount": 0,
            "ready": is_ready, "started": "running" in state, "state": state,
        }  # fmt: skip


def _condition(fact: tuple[str, str], before: Sequence[ReadOnly], now: datetime, *, unready: str) -> Manifest:
    kind, value = fact
    old = next((each for each in before if each.get("type") == kind and each.get("status") == value), None)
    since = old.get("lastTransitionTime") if old else None
    condition = {"type": kind, "status": value, "lastProbeTime": None, "lastTransitionTime": since or timestamp(now)}
    return {**condition, "reason": unready} if value == "False" else condition


def event_about(ref: Ref, uid: str, now: datetime, *, reason: str, message: str) -> Manifest:
    """A warning Event."""
    name = hashlib.sha256(f"{uid} {reason} {message}".encode()).hexdigest()[:16]
    about = {
        "apiVersion": ref.api_version, "kind": ref.kind, "name": ref.name, "namespace": ref.namespace, "uid": uid,
    }  # fmt: skip
    stamp, meta = timestamp(now), {"name": f"{ref.name[:200]}.{name}", "namespace": ref.namespace}
    return {
        "apiVersion": "v1", "kind": "Event", "metadata": meta,
        "involvedObject": about, "reason": reason, "message": message[:1024], "type": "Warning", "count": 1,
        "firstTimestamp": stamp, "lastTimestamp": stamp, "source": {"component": "olmf-kubelet"},
    }  # fmt: skip
