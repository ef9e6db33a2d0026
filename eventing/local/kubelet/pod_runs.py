"""The simulated node: takes Pods, waits for what they mount, runs programs of ours, and reports what became of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog

from eventing.local.kubelet import pods
from eventing.local.kubelet.needs import Obstacle, needs_of, obstacle_of
from eventing.local.kubelet.pod_network import PodNetwork
from eventing.local.kubelet.pods import FINISHED, NODE_NAME, Ended
from eventing.local.kubelet.programs import Programs
from eventing.local.kubelet.requests import insist, record_event
from eventing.local.kubelet.served_program import NotServing, is_our_server, serving_program
from eventing.local.kubelet.serving import serves, serving
from shared.adapters.kube import KubeClient, path_of
from shared.api.manifest import Manifest, ReadOnly, is_deleted, metadata, name_of, namespace_of, uid_of
from shared.kinds import POD, Ref

SHORT_RUN_SECONDS = 0.7
"""A program that ends sooner is never reported as running."""
FIRST_POLL_SECONDS = 0.5
LONGEST_POLL_SECONDS = 5.0
STARTING = Obstacle("", "ContainerCreating", "its program is not ready yet")
FAREWELL_SECONDS = 10.0
"""How long the server of a deleted Pod still answers those who chose it before; nobody waits for its end."""
log = structlog.get_logger()


@dataclass(slots=True)
class Life:
    """What goes on for one Pod."""

    pod: ReadOnly
    first: asyncio.Future[Obstacle | None]
    """Why it does not start, as soon as that is known."""
    task: asyncio.Task[Ended | None] | None = None
    """Its result is the end of its program; None for a Pod that runs for ever."""
    obstacle: Obstacle | None = None
    """Why it does not start now."""
    serves: asyncio.Event = field(default_factory=asyncio.Event)
    """Set as soon as it is Ready, or waits for something."""
    leaves: asyncio.Event = field(default_factory=asyncio.Event)
    """Set as soon as it is deleted; its server answers a little longer."""


class PodRuns:
    """Every Pod that is assigned to our node, or to none."""

    def __init__(
        self,
        cluster: KubeClient,
        programs: Programs,
        network: PodNetwork,
        *,
        has_bindings: bool,
        on_change: Callable[[str], None],
    ) -> None:
        """`on_change` is told the uid of the owner of a Pod that went, or whose obstacle changed."""
        self._cluster = cluster
        self._programs = programs
        self._network = network
        self._has_bindings = has_bindings
        self._on_change = on_change
        self._lives: dict[str, Life] = {}
        self._gone: dict[str, asyncio.Task[None]] = {}
        self._reported: dict[str, str] = {}
        """What makes the Pods of an owner fail, by its uid."""

    def observe(self, pod: ReadOnly) -> None:
        """Take a Pod up, or end it."""
        uid, phase = uid_of(pod), (pod.get("status") or {}).get("phase")
        if (pod.get("spec") or {}).get("nodeName", NODE_NAME) != NODE_NAME:
            return
        if is_deleted(pod):
            # why: an API server may have chosen this Pod just before it heard of its end
            self._end(uid, FAREWELL_SECONDS if serves(pod) else 0)
            if uid not in self._gone:
                task = self._gone[uid] = asyncio.create_task(self._remove(pod))
                task.add_done_callback(lambda _: self._gone.pop(uid, None))
        elif uid not in self._lives and phase not in FINISHED:
            self.begin(pod)

    def set_failure(self, owner: str, failure: str) -> None:
        """Make the Pods of an owner fail with this message; an empty one ends that."""
        if failure == self._reported.get(owner, ""):
            return
        self._reported[owner] = failure
        for life in list(self._of(owner)):
            self._end(uid_of(life.pod))
            self.begin(life.pod)

    def lost(self, uid: str) -> None:
        """A Pod or an owner is gone."""
        self._reported.pop(uid, None)
        life = self._lives.get(uid)
        self._end(uid)
        if life and (owner := pods.owner_of(life.pod)):
            self._on_change(str(owner.get("uid")))

    def live_of(self, owner: str) -> list[ReadOnly]:
        """The Pods of an owner that have not ended."""
        return [life.pod for life in self._of(owner) if life.task and not (life.task.done() and _result(life.task))]

    def begin(self, pod: ReadOnly) -> Life:
        """Take a Pod up, unless that was done."""
        uid = uid_of(pod)
        if uid not in self._lives:
            life = self._lives[uid] = Life(pod, asyncio.get_running_loop().create_future())
            life.task = asyncio.create_task(self._live(life), name=str(Ref.of(pod)))
            life.task.add_done_callback(_report)
            life.task.add_done_callback(lambda _: life.serves.set())
        return self._lives[uid]

    async def close(self) -> None:
        """End every process; the Pods stay as they are."""
        tasks = [*(life.task for life in self._lives.values() if life.task), *self._gone.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._programs.close()

    def _of(self, owner: str) -> Iterator[Life]:
        return (life for life in self._lives.values() if pods.owner_of(life.pod).get("uid") == owner)

    def _end(self, uid: str, after: float = 0) -> None:
        life = self._lives.pop(uid, None)
        if life and life.task:
            life.leaves.set()
            asyncio.get_running_loop().call_later(after, life.task.cancel)
            life.first.cancel()

    async def _live(self, life: Life) -> Ended | None:
        pod = life.pod
        if not (pod.get("spec") or {}).get("nodeName"):
            await insist(lambda: self._assign(pod), Ref.of(pod))
        if pods.is_ready(pod) and not (pods.is_our_program(pod) or serves(pod) or self._fails(pod)):
            life.first.set_result(None)  # why: the process before us reported it
            return None
        obstacle = await self._await_needs(life)
        if pods.is_our_program(pod):
            started = _now()
            ended = Ended(1, obstacle.message) if obstacle else await self._program(pod)
            await self._write(pod, pods.over(pod, ended, started, _now()))
            return ended
        if obstacle is None and is_our_server(pod):
            await self._keep_serving(life)
        elif obstacle is None and serves(pod):
            await self._serve(life)
        elif obstacle is None:
            await self._write(pod, pods.running(pod, _now()))
        return None

    async def _serve(self, life: Life) -> None:
        """Run the server of a Pod until the Pod ends."""
        surroundings = (self._network, self._programs.folder)
        async with serving(self._cluster, surroundings, life.pod, life.leaves):
            await self._write(life.pod, pods.running(life.pod, _now()))
            life.serves.set()
            await asyncio.get_running_loop().create_future()

    async def _keep_serving(self, life: Life) -> None:
        """Run the program that a Pod serves with until the Pod ends; one that ends by itself is started again."""
        pod, pause = life.pod, FIRST_POLL_SECONDS
        while True:
            try:
                async with serving_program(self._cluster, self._network, pod, self._programs) as ended:
                    await self._write(pod, pods.running(pod, _now()))
                    self._hinder(life, None)
                    why, pause = f"ended with exit code {await asyncio.shield(ended)}", FIRST_POLL_SECONDS
            except (NotServing, OSError) as error:
                why = str(error)
            log.warning("server_ended", pod=str(Ref.of(pod)), why=why)
            self._hinder(life, crashed := Obstacle("BackOff", "CrashLoopBackOff", why))
            await self._report_obstacle(pod, crashed)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_POLL_SECONDS)

    def _hinder(self, life: Life, obstacle: Obstacle | None) -> None:
        life.obstacle = obstacle
        life.serves.set()
        self._on_change(str(pods.owner_of(life.pod).get("uid")))

    async def _await_needs(self, life: Life) -> Obstacle | None:
        """Return when there is no obstacle any more, or one that lasts."""
        pause = FIRST_POLL_SECONDS
        while True:
            before, obstacle = life.obstacle, await self._obstacle(life.pod)
            life.obstacle = STARTING if obstacle is None and is_our_server(life.pod) else obstacle
            if not life.first.done():
                life.first.set_result(life.obstacle)
            if obstacle:
                life.serves.set()
            if obstacle and obstacle != before:
                await self._report_obstacle(life.pod, obstacle)
            if life.obstacle != before:
                self._on_change(str(pods.owner_of(life.pod).get("uid")))
            if obstacle is None or obstacle.lasts:
                return obstacle
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LONGEST_POLL_SECONDS)

    async def _obstacle(self, pod: ReadOnly) -> Obstacle | None:
        if (failing := self._fails(pod)) or not needs_of(pod):
            return failing
        found = await insist(lambda: (obstacle_of(pod, namespace_of(pod), self._cluster.get),), Ref.of(pod))
        return found[0] if found else None

    def _fails(self, pod: ReadOnly) -> Obstacle | None:
        return pods.requested_failure(pod, self._reported.get(str(pods.owner_of(pod).get("uid")), ""))

    async def _report_obstacle(self, pod: ReadOnly, obstacle: Obstacle) -> None:
        ref = Ref.of(pod)
        event = pods.event_about(ref, uid_of(pod), _now(), reason=obstacle.event, message=obstacle.message)
        if not (obstacle.lasts and pods.is_our_program(pod)):
            await self._write(pod, pods.waiting(pod, obstacle, _now()))
        await record_event(self._cluster, event, ref)

    async def _program(self, pod: ReadOnly) -> Ended:
        process = asyncio.ensure_future(self._programs.run(pod))
        try:
            done, _ = await asyncio.wait({process}, timeout=SHORT_RUN_SECONDS)
            if not done:
                await self._write(pod, pods.running(pod, _now()))
            return await process
        finally:
            process.cancel()
            await asyncio.gather(process, return_exceptions=True)

    def _assign(self, pod: ReadOnly) -> object:
        ref = Ref.of(pod)
        if not self._has_bindings:
            return self._cluster.merge(ref, {"spec": {"nodeName": NODE_NAME}})
        binding: Manifest = {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": ref.name, "uid": uid_of(pod)},
            "target": {"apiVersion": "v1", "kind": "Node", "name": NODE_NAME},
        }  # fmt: skip
        return self._cluster.request("POST", path_of(POD, ref.namespace, ref.name, "binding"), binding)

    async def _write(self, pod: ReadOnly, status: Manifest) -> None:
        # why: with the uid, the status of a deleted Pod is not written to a new Pod of the same name
        patch = {"metadata": {"uid": uid_of(pod)}, "status": status}
        ref = Ref.of(pod)
        await insist(lambda: self._cluster.merge(ref, patch, subresource="status"), ref)

    async def _remove(self, pod: ReadOnly) -> None:
        """Say that the containers of a deleted Pod have ended."""
        options = {
            "apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,
            "preconditions": {"uid": uid_of(pod)},
        }  # fmt: skip
        if metadata(pod).get("deletionGracePeriodSeconds"):
            path = path_of(POD, namespace_of(pod), name_of(pod))
            await insist(lambda: self._cluster.request("DELETE", path, options), Ref.of(pod))


def _result(task: asyncio.Task[Ended | None]) -> Ended | None:
    return None if task.cancelled() or task.exception() else task.result()


def _report(task: asyncio.Task[Ended | None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.error("pod_lost", pod=task.get_name(), exc_info=error)


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
