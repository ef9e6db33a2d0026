"""The Node that the simulated kubelet plays where real controllers run, and how it is told from real Nodes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from eventing.local.kubelet.pods import NODE_NAME
from eventing.local.kubelet.requests import insist
from shared.adapters.kube import KubeClient, path_of
from shared.api.manifest import Manifest, ReadOnly, labels_of, timestamp
from shared.kinds import CONFIG_MAP, NODE, Kind
from shared.names import SIMULATED_NODE

LEASE = Kind("coordination.k8s.io/v1", "Lease", "leases")
LEASE_PLACE = "kube-node-lease"
LEASE_SECONDS = 40
RENEW_SECONDS = 10.0
PUBLISHED = CONFIG_MAP.ref("kube-root-ca.crt", "kube-system")
"""What the controllers of a real cluster write for each namespace."""


def is_simulated(node: ReadOnly) -> bool:
    """Whether a Node is the one that we play."""
    return SIMULATED_NODE in labels_of(node)


def has_controllers(cluster: KubeClient) -> bool:
    """Whether kube-controller-manager works there, so that we play the node only."""
    return cluster.get(PUBLISHED) is not None


class Node:
    """Our Node: registered at the start, and kept alive by its Lease."""

    def __init__(self, cluster: KubeClient) -> None:
        self._cluster = cluster
        self._ref = NODE.ref(NODE_NAME)

    async def keep(self) -> None:
        """Register the Node, then renew its Lease until cancelled."""
        await insist(lambda: self._cluster.apply(_node(), field_manager="olmf-kubelet"), self._ref)
        while True:
            await insist(self._renew, self._ref)
            await asyncio.sleep(RENEW_SECONDS)

    def _renew(self) -> None:
        now = datetime.now(UTC)
        self._cluster.apply(_lease(now), field_manager="olmf-kubelet")
        found = self._cluster.get(self._ref) or {}
        conditions = {each["type"]: each["status"] for each in (found.get("status") or {}).get("conditions") or ()}
        if conditions.get("Ready") != "True":  # new, or the controllers did not hear of us for some time
            path = path_of(NODE, "", NODE_NAME, "status")
            body = {"status": _status(now)}
            self._cluster.request("PATCH", path, body, content_type="application/merge-patch+json")


def _node() -> Manifest:
    labels = {SIMULATED_NODE: "true", "kubernetes.io/hostname": NODE_NAME, "kubernetes.io/os": "linux"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE_NAME, "labels": labels}}


def _lease(now: datetime) -> Manifest:
    spec = {
        "holderIdentity": NODE_NAME, "leaseDurationSeconds": LEASE_SECONDS,
        "renewTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    }  # fmt: skip
    meta = {"name": NODE_NAME, "namespace": LEASE_PLACE}
    return {"apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": meta, "spec": spec}


def _status(now: datetime) -> Manifest:
    stamp, room = timestamp(now), {"cpu": "1000", "memory": "1000Gi", "pods": "100000", "ephemeral-storage": "1000Gi"}
    ready = {
        "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "simulated: no container runs",
        "lastHeartbeatTime": stamp, "lastTransitionTime": stamp,
    }  # fmt: skip
    return {
        "capacity": room, "allocatable": room, "conditions": [ready],
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": NODE_NAME}],
    }  # fmt: skip
