"""What the simulated kubelet plays: the node alone, or the controllers of workloads besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from eventing.local.kubelet.deployment_runs import DeploymentRuns
from eventing.local.kubelet.job_runs import JobRuns
from eventing.local.kubelet.pod_network import PodNetwork
from eventing.local.kubelet.pod_runs import PodRuns
from eventing.local.kubelet.pods import owner_of
from eventing.local.kubelet.programs import Programs
from shared.adapters.kube import KubeClient
from shared.api.manifest import ReadOnly, annotations_of, uid_of
from shared.kinds import DEPLOYMENT, JOB, POD, Kind
from shared.names import KUBELET_FAIL

REPLICA_SET = Kind("apps/v1", "ReplicaSet", "replicasets")


class Watched(Protocol):
    """Whoever follows the objects of a kind."""

    def observe(self, manifest: ReadOnly) -> None:
        """The present state of an object."""
        ...

    def lost(self, uid: str) -> None:
        """An object was deleted."""
        ...


class NodeOnly:
    """Where kube-controller-manager makes the Pods."""

    def __init__(self, cluster: KubeClient, programs: Programs, network: PodNetwork) -> None:
        self._pods = PodRuns(cluster, programs, network, has_bindings=True, on_change=lambda _: None)

    def watched(self) -> Sequence[Mapping[Kind, Watched]]:
        """Who follows which kind; the later ones start when the earlier ones are listed."""
        owners = _Owners(self._pods)
        return ({DEPLOYMENT: owners}, {REPLICA_SET: owners}, {POD: self._pods})

    async def close(self) -> None:
        """End every process."""
        await self._pods.close()


class NodeAndControllers:
    """Where nobody makes Pods: on a sandbox."""

    def __init__(self, cluster: KubeClient, programs: Programs, network: PodNetwork) -> None:
        self._pods = PodRuns(cluster, programs, network, has_bindings=False, on_change=self._changed)
        self._jobs = JobRuns(cluster, self._pods)
        self._deployments = DeploymentRuns(cluster, self._pods)

    def watched(self) -> Sequence[Mapping[Kind, Watched]]:
        """Who follows which kind; the later ones start when the earlier ones are listed."""
        return ({POD: self._pods}, {DEPLOYMENT: self._deployments, JOB: self._jobs})

    def _changed(self, owner: str) -> None:
        self._deployments.changed(owner)

    async def close(self) -> None:
        """End every process."""
        for part in (self._deployments, self._jobs, self._pods):
            await part.close()


class _Owners:
    """The Deployments and their ReplicaSets, for the annotation that lets Pods fail.

    ReplicaSets have the annotations of their Deployment, but keep those that it loses.
    """

    def __init__(self, pods: PodRuns) -> None:
        self._pods = pods
        self._failures: dict[str, str] = {}
        """Messages by the uid of a Deployment."""
        self._sets: dict[str, str] = {}
        """Uids of Deployments by those of their ReplicaSets."""

    def observe(self, manifest: ReadOnly) -> None:
        uid = uid_of(manifest)
        if manifest["kind"] == REPLICA_SET.kind:
            self._sets[uid] = str(owner_of(manifest).get("uid", ""))
            self._pods.set_failure(uid, self._failures.get(self._sets[uid], ""))
            return
        self._failures[uid] = annotations_of(manifest).get(KUBELET_FAIL, "")
        for each in [each for each, deployment in self._sets.items() if deployment == uid]:
            self._pods.set_failure(each, self._failures[uid])

    def lost(self, uid: str) -> None:
        self._failures.pop(uid, None)
        self._sets.pop(uid, None)
        self._pods.lost(uid)
