"""Plays the controller of Deployments: their Pods, and the status that follows of them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial

import structlog

from eventing.local.kubelet.deployments import replicas_of, simulated_status
from eventing.local.kubelet.needs import Obstacle
from eventing.local.kubelet.pod_runs import LONGEST_POLL_SECONDS, PodRuns
from eventing.local.kubelet.pods import TEMPLATE_HASH, event_about, hash_of, pod_of
from eventing.local.kubelet.requests import demand, insist, record_event
from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import ReadOnly, is_deleted, labels_of, uid_of
from shared.kinds import Ref

MOST_PODS = 3
"""A Deployment with more replicas gets so many Pods; the others are reported only."""
log = structlog.get_logger()


class DeploymentRuns:
    """Every Deployment that there is."""

    def __init__(self, cluster: KubeClient, pods: PodRuns) -> None:
        self._cluster = cluster
        self._pods = pods
        self._latest: dict[str, ReadOnly] = {}
        self._due: set[str] = set()
        """Uids of Deployments to be compared with their Pods."""
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def observe(self, deployment: ReadOnly) -> None:
        """Bring Pods and status of a Deployment to what it wants."""
        self._latest[uid_of(deployment)] = deployment
        self.changed(uid_of(deployment))

    def lost(self, uid: str) -> None:
        """Forget a Deployment; garbage collection deletes its Pods."""
        self._latest.pop(uid, None)

    def changed(self, uid: str) -> None:
        """Compare a Deployment with its Pods again, now or after the comparison that goes on."""
        if uid not in self._latest:
            return
        self._due.add(uid)
        if uid not in self._tasks:
            self._tasks[uid] = asyncio.create_task(self._work(uid), name=uid)

    async def close(self) -> None:
        """Leave every Deployment as it is."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, uid: str) -> None:
        try:
            while uid in self._due:
                self._due.discard(uid)
                deployment = self._latest.get(uid)
                if deployment is not None and not is_deleted(deployment):
                    await self._compare(deployment)
        finally:
            del self._tasks[uid]

    async def _compare(self, deployment: ReadOnly) -> None:
        made_of = hash_of(deployment)
        pods = self._pods.live_of(uid_of(deployment))
        fresh = [pod for pod in pods if labels_of(pod).get(TEMPLATE_HASH) == made_of]
        desired = min(replicas_of(deployment), MOST_PODS)
        refusal = await self._fill(deployment, fresh, desired, made_of)
        lives = [self._pods.begin(pod) for pod in fresh[:desired]]
        if lives:
            await asyncio.wait({life.first for life in lives})
        obstacle = refusal or next(filter(None, (life.obstacle for life in lives)), None)
        stale = [pod for pod in pods if pod not in fresh] + fresh[desired:]
        await self._report(deployment, obstacle)
        for life in lives if stale else ():
            await life.serves.wait()
        await asyncio.gather(*(self._delete(pod) for pod in stale))

    async def _fill(self, deployment: ReadOnly, fresh: list[ReadOnly], desired: int, made_of: str) -> Obstacle | None:
        """Create the missing Pods; returns why admission refuses them."""
        ref = Ref.of(deployment)
        while len(fresh) < desired:
            pod = pod_of(deployment, {TEMPLATE_HASH: made_of})
            try:
                made = await demand(partial(self._cluster.create, pod), ref)
            except ApiError as error:
                refusal = Obstacle("FailedCreate", "", f"Error creating: {error.message}")
                event = event_about(ref, uid_of(deployment), _now(), reason=refusal.event, message=refusal.message)
                await record_event(self._cluster, event, ref)
                uid = uid_of(deployment)
                asyncio.get_running_loop().call_later(LONGEST_POLL_SECONDS, self.changed, uid)
                return refusal
            if made is None:  # the namespace is gone
                return None
            self._pods.begin(made)
            fresh.append(made)
        return None

    async def _delete(self, pod: ReadOnly) -> None:
        await insist(lambda: self._cluster.delete(Ref.of(pod), uid=uid_of(pod)), Ref.of(pod))

    async def _report(self, deployment: ReadOnly, obstacle: Obstacle | None) -> None:
        status = simulated_status(deployment, _now(), obstacle)
        if status is None:
            return
        written = await insist(
            lambda: self._cluster.replace_status({**deployment, "status": status}), Ref.of(deployment)
        )
        if written is not None and self._latest.get(uid_of(deployment)) is deployment:
            self._latest[uid_of(deployment)] = written


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
