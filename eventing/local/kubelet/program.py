"""The process of the simulated kubelet: watches Pods, and on a sandbox their owners, and acts on them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import aiohttp
import structlog

from eventing.local.kubelet.node import Node, has_controllers, is_simulated
from eventing.local.kubelet.parts import NodeAndControllers, NodeOnly, Watched
from eventing.local.kubelet.pod_network import PodNetwork
from eventing.local.kubelet.pods import NODE_NAME
from eventing.local.kubelet.programs import Programs
from eventing.local.kubelet.requests import FORBIDDEN, insist
from eventing.local.processes import Launcher
from eventing.watch.kind_watch import KindWatch
from eventing.watch.namespaced import ListedKeys
from eventing.watch.stream import Stream
from eventing.watch.watch_health import WatchHealth
from shared.adapters.kube import ApiError, Connection, ConnectionSettingError, KubeClient, connect
from shared.api.manifest import ReadOnly, name_of, namespace_of, uid_of
from shared.config import Settings
from shared.kinds import NODE, Kind, Watch

WARM = ("eventing.cli.main", "eventing.content.unpack", "eventing.packages.program", "ssl")
"""What the programs of Pods import, imported once for all."""
PROGRAMS_AT_ONCE = max(4, 2 * (os.cpu_count() or 1))
RETRY_SECONDS = 1.0
FORBIDDEN_TIMES = 10
"""So often a 403 is not believed: an API server that has just begun does not know yet who may do what."""
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ObservedObject:
    """The last state of an object, and whether it was deleted."""

    object: ReadOnly
    is_gone: bool = False


@dataclass(slots=True)
class Objects:
    """An observer of a watch that passes on every object."""

    kind: Kind
    known: dict[tuple[str, str], str] = field(default_factory=dict)
    """Uids by namespace and name."""

    def observe(self, change: str, manifest: ReadOnly) -> Sequence[ObservedObject]:
        """The object of a watch event."""
        key = (namespace_of(manifest), name_of(manifest))
        if change == "DELETED":
            self.known.pop(key, None)
            return (ObservedObject(manifest, is_gone=True),)
        self.known[key] = uid_of(manifest)
        return (ObservedObject({**manifest, "apiVersion": self.kind.api_version, "kind": self.kind.kind}),)

    def page(self, items: Iterable[ReadOnly], listed: ListedKeys) -> Sequence[ObservedObject]:
        """The objects of a page of a list; adds their keys to `listed`."""
        found: list[ObservedObject] = []
        for item in items:
            listed.add((namespace_of(item), name_of(item)))
            found += self.observe("ADDED", item)
        return found

    def settle(self, listed: ListedKeys) -> Sequence[ObservedObject]:
        """The objects that are not in the list any more."""
        gone = {key: uid for key, uid in self.known.items() if key not in listed}
        for key in gone:
            del self.known[key]
        return [ObservedObject({"metadata": {"uid": uid}}, is_gone=True) for uid in gone.values()]


class Kubelet:
    """The simulated kubelet of one cluster; the simulated controllers, too, where there are no real ones."""

    def __init__(
        self,
        connection: Connection,
        kubeconfig: str = "",
        *,
        watch_seconds: int = 300,
        pod_network: str = "",
        launcher: Launcher | None = None,
    ) -> None:
        self._connection = connection
        self._cluster = KubeClient(replace(connection, agent="olmf/kubelet"))
        self._seconds = watch_seconds
        self._launcher = launcher or Launcher(*WARM)
        self._programs = Programs(self._cluster, self._launcher, kubeconfig=kubeconfig, at_once=PROGRAMS_AT_ONCE)
        self._network = PodNetwork()
        self._network_address = pod_network
        self.health = WatchHealth()

    async def run(self, on_ready: Callable[[], None] | None = None) -> None:
        """Run until cancelled, then end every started process; `on_ready` is called after the first lists."""
        is_node_only = await insist(lambda: has_controllers(self._cluster), NODE.ref(NODE_NAME))
        part = (
            NodeOnly(self._cluster, self._programs, self._network)
            if is_node_only
            else NodeAndControllers(self._cluster, self._programs, self._network)
        )
        if self._network_address:
            await self._network.open(self._network_address)
        try:
            async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as tasks:
                for kinds in part.watched():  # why: Pods that exist are known before their owners are looked at
                    for kind, watched in kinds.items():
                        tasks.create_task(self._watch(session, kind, watched).run())
                    self.health.complete.clear()
                    await self.health.complete.wait()
                if is_node_only:
                    tasks.create_task(Node(self._cluster).keep())
                log.info("kubelet_ready", server=self._connection.origin, is_node_only=bool(is_node_only))
                if on_ready:
                    on_ready()
                await self._launcher.warm_up()
        finally:
            await part.close()
            await self._network.close()
            await self._launcher.close()
            self._cluster.close()

    def _watch(self, session: aiohttp.ClientSession, kind: Kind, watched: Watched) -> KindWatch[ObservedObject]:
        async def deliver(changes: Sequence[ObservedObject]) -> None:
            for seen in changes:
                if seen.is_gone:
                    watched.lost(uid_of(seen.object))
                else:
                    watched.observe(seen.object)

        stream = Stream(session, self._connection, kind, Watch(is_whole=True))
        return KindWatch(stream, Objects(kind), deliver, health=self.health, seconds=self._seconds)


def run(settings: Settings, on_ready: Callable[[], None] | None = None) -> None:
    """Run until SIGTERM or SIGINT. Exits with a message when the cluster has real Nodes."""
    asyncio.run(_run(settings, on_ready))


async def _run(settings: Settings, on_ready: Callable[[], None] | None) -> None:
    try:
        connection = connect(settings.kubeconfig)
    except ConnectionSettingError as error:
        sys.exit(f"olmf: {error}")
    working = asyncio.create_task(_stand_in(connection, settings, on_ready))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, working.cancel)
    with suppress(asyncio.CancelledError):
        await working
    log.info("kubelet_ends")


async def _stand_in(connection: Connection, settings: Settings, on_ready: Callable[[], None] | None) -> None:
    launcher = Launcher(*WARM)
    await launcher.begin()
    try:
        await refuse_nodes(connection)
        network, seconds = settings.pod_network, settings.watch_seconds
        kubelet = Kubelet(
            connection, settings.kubeconfig, watch_seconds=seconds, pod_network=network, launcher=launcher
        )
        await kubelet.run(on_ready)
    finally:
        await launcher.close()


async def refuse_nodes(connection: Connection) -> None:
    """Exit with a sentence where the cluster has Nodes; wait for an API server that does not answer yet."""
    cluster, forbidden = KubeClient(replace(connection, agent="olmf/kubelet")), 0
    while True:
        try:
            nodes = [node for node in await asyncio.to_thread(cluster.list, NODE) if not is_simulated(node)]
            break
        except ApiError as error:
            forbidden += error.status == FORBIDDEN
            if is_final(error, forbidden):
                sys.exit(f"olmf: the kubelet's stand-in could not list the Nodes: {error}")
            log.warning("kubelet_waits", error=str(error))
        await asyncio.sleep(RETRY_SECONDS)
    cluster.close()
    if nodes:
        sys.exit(
            f"olmf: {connection.origin} has Nodes ({name_of(nodes[0])} is one), so real kubelets run its workloads: "
            "the stand-in would report Deployments as available that are not"
        )


def is_final(error: ApiError, forbidden: int) -> bool:
    """Whether waiting helps no more, after so many answers that it is forbidden."""
    return forbidden > FORBIDDEN_TIMES or not (error.status == FORBIDDEN or error.is_unreachable)
