"""Brings one installation up: programs, CustomResourceDefinitions, namespaces and catalogs."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import structlog

from eventing.local.folders import ring_on_change
from eventing.local.served import Served, remember
from eventing.local.state import Addresses, StateDirectory
from eventing.local.supervisor import Program, Supervisor
from eventing.registry.shelf import name_of
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest, uid_of
from shared.kinds import CATALOG_SOURCE, DEPLOYMENT, NAMESPACE, NODE, Ref

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient

_LEAVE_SECONDS = 5
log = structlog.get_logger()

LOCAL_CATALOG = "local"
"""CatalogSource of the bundles given with `--bundles`."""


class TakeOverError(RuntimeError):
    """OLM itself runs on the cluster, and nobody said that we should take over."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What `olmf up` was asked for."""

    state: StateDirectory
    bundles: tuple[Path, ...] = ()
    catalogs: tuple[str, ...] = ()
    """Folders or image references."""
    kubeconfig: Path | None = None
    """An existing cluster instead of the sandbox."""
    source: Literal["watch", "endpoint"] = "watch"
    namespace: str = "olm"
    take_over: bool = False

    def fault(self) -> str:
        """Why this cannot be done; empty: it can be tried."""
        for folder in self.bundles:
            if not folder.is_dir():
                return f"--bundles {folder}: no such folder"
        for catalog in self.catalogs:
            if catalog.startswith((".", "/", "~")) and not Path(catalog).is_dir():
                return f"--catalog {catalog}: no such folder"
        if self.kubeconfig and not self.kubeconfig.exists():
            return f"--kubeconfig {self.kubeconfig}: no such file"
        named = [LOCAL_CATALOG] * bool(self.bundles) + [name_of_catalog(catalog) for catalog in self.catalogs]
        twice = next((name for name in named if named.count(name) > 1), "")
        return f"two catalogs would be called {twice!r}: rename a folder" if twice else ""

    def words(self) -> list[str]:
        """`olmf <words>` asks for the same."""
        kubeconfig = ["--kubeconfig", str(self.kubeconfig)] if self.kubeconfig else []
        return [
            *("up", "--state", str(self.state.root), "--source", self.source),
            *_words("--bundles", self.bundles),
            *_words("--catalog", self.catalogs),
            *kubeconfig,
            *(["--take-over"] if self.take_over else []),
        ]


async def run(plan: Plan, on_ready: Callable[[Supervisor], None]) -> None:
    """Start everything, call `on_ready`, and stay until SIGINT or SIGTERM; then stop everything.

    Raises AlreadyRunningError, StartError, TakeOverError, or what the cluster answered.
    """
    plan.state.make()
    with plan.state.claimed():
        remember(plan.state, Served(plan.bundles, tuple(_folders(plan.catalogs).values())), plan.kubeconfig)
        await _run(plan, on_ready)


async def _run(plan: Plan, on_ready: Callable[[Supervisor], None]) -> None:
    supervisor = Supervisor(plan.state)
    supervisor.publish()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        start = asyncio.create_task(_start(plan, supervisor))
        ended = asyncio.create_task(stop.wait())
        await asyncio.wait({start, ended}, return_when=asyncio.FIRST_COMPLETED)
        if start.done():
            start.result()
            on_ready(supervisor)
            async with asyncio.TaskGroup() as tasks:
                folders = served_folders(plan)
                watch = tasks.create_task(ring_on_change(folders, supervisor.addresses.endpoint))
                await ended
                watch.cancel()
        else:
            start.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await start
    finally:
        await supervisor.stop()
        if plan.kubeconfig:
            await _leave(plan, supervisor.addresses)


async def _leave(plan: Plan, addresses: Addresses) -> None:
    """Take what only we served off a cluster that goes on without us; the sandbox stops with us, and keeps it."""
    leaving = _aside(lambda: remove_catalogs(plan, addresses))
    try:
        await asyncio.wait_for(leaving, _LEAVE_SECONDS)
    except (TimeoutError, ApiError) as error:
        log.warning("catalogs_stay", kubeconfig=str(plan.kubeconfig), error=f"{type(error).__name__}: {error}")


def served_folders(plan: Plan) -> dict[Ref, tuple[Path, ...]]:
    """The CatalogSources whose images are made from folders here, and those folders."""
    named = {LOCAL_CATALOG: plan.bundles} if plan.bundles else {}
    named |= {name: (folder,) for name, folder in _folders(plan.catalogs).items()}
    return {CATALOG_SOURCE.ref(name, plan.namespace): folders for name, folders in named.items()}


async def _start(plan: Plan, supervisor: Supervisor) -> None:
    first = [Program("redis", ("redis", "--state", str(plan.state.root / "redis")))]
    if plan.kubeconfig is None:
        first.append(Program("api", ("api", "--state", str(plan.state.root)), {"OLMF_PORT": "0"}))
    if folders := [*_words("--bundles", plan.bundles), *_words("--catalog", _folders(plan.catalogs).values())]:
        first.append(Program("content", ("content", *folders), _at_a_port(plan, "content")))
    found = await supervisor.start(first)
    kubeconfig = str(plan.kubeconfig or plan.state.kubeconfig)
    supervisor.publish(kubeconfig=kubeconfig, redis=found["redis"], registry=found.get("content", ""))
    has_nodes = await _aside(lambda: _prepare(plan, kubeconfig, found.get("content", "")))
    environ = {
        "OLMF_REDIS_URL": found["redis"],
        "OLMF_KUBECONFIG": kubeconfig,
        "OLMF_CONTENT": str(plan.state.root / "content"),
        "OLMF_GLOBAL_NAMESPACE": plan.namespace,
        # Pods of real Nodes reach neither a registry on our loopback nor an image of this tree.
        **({"OLMF_UNPACK": "direct"} if has_nodes else {}),
    }
    names = ["worker", "endpoint", "scheduler"]
    names += ["watch"] if plan.source == "watch" else []
    names += [] if has_nodes else ["kubelet"]
    second = await supervisor.start([Program(name, (name,), {**environ, **_at_a_port(plan, name)}) for name in names])
    supervisor.publish(endpoint=second["endpoint"], ready=True)


async def _aside(work: Callable[[], bool]) -> bool:
    """Do it in a thread that nobody waits for at the end: an API server that does not answer must not hold us."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[bool] = loop.create_future()

    def settle(act: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(lambda: None if future.done() else act())

    def run() -> None:
        try:
            answer = work()
        except Exception as error:  # noqa: BLE001  # why: it is raised where it is awaited
            failure = error
            settle(lambda: future.set_exception(failure))
        else:
            settle(lambda: future.set_result(answer))

    threading.Thread(target=run, name="prepare", daemon=True).start()
    return await future


def _at_a_port(plan: Plan, program: str) -> dict[str, str]:
    return {"OLMF_PORT": str(plan.state.port_of(program))}


def _prepare(plan: Plan, kubeconfig: str, registry: str) -> bool:
    from shared.adapters.kube import KubeClient

    cluster = KubeClient.from_kubeconfig(kubeconfig)
    if plan.kubeconfig and not plan.take_over:
        refuse_beside_olm(cluster)
    apply_definitions(cluster)
    wanted: list[Manifest] = [_namespace(plan.namespace)]
    if plan.bundles:
        wanted.append(_catalog(LOCAL_CATALOG, f"{registry}/catalogs/local:latest", plan.namespace))
    folders = _folders(plan.catalogs)
    wanted += [_catalog(name, f"{registry}/catalogs/{name}:latest", plan.namespace) for name in folders]
    images = [catalog for catalog in plan.catalogs if not Path(catalog).is_dir()]
    wanted += [_catalog(name_of_catalog(image), image, plan.namespace) for image in images]
    for manifest in wanted:
        cluster.apply(manifest)
    return bool(cluster.list(NODE))


def remove_catalogs(plan: Plan, addresses: Addresses) -> bool:
    """Remove the CatalogSources whose images came from our registry: nobody can pull them any more."""
    from shared.adapters.kube import KubeClient

    cluster = KubeClient.from_kubeconfig(str(plan.kubeconfig))
    found = [source for ref in served_folders(plan) if (source := cluster.get(ref))]
    ours = [source for source in found if str(source["spec"].get("image")).startswith(f"{addresses.registry}/")]
    for source in ours:
        cluster.delete(Ref.of(source), uid=uid_of(source))
        log.info("catalog_removed", ref=str(Ref.of(source)))
    return bool(ours)


def apply_definitions(cluster: KubeClient) -> None:
    """Apply our CustomResourceDefinitions (server-side apply: nothing changes where they are current)."""
    from shared.api.definitions import DEFINITIONS
    from shared.api.schema import custom_resource_definition

    for definition in DEFINITIONS:
        cluster.apply(custom_resource_definition(definition))


def refuse_beside_olm(cluster: KubeClient) -> None:
    """TakeOverError when OLM's own operators are deployed on the cluster."""
    for deployment in cluster.list(DEPLOYMENT):
        meta = deployment["metadata"]
        if meta["name"] in ("olm-operator", "catalog-operator"):
            raise TakeOverError(
                f"OLM runs on this cluster (Deployment {meta['namespace']}/{meta['name']}): two managers of the same "
                "objects would fight. Scale it to zero and say --take-over, or choose another cluster"
            )


def _words(option: str, values: Iterable[object]) -> list[str]:
    return [word for value in values for word in (option, str(value))]


def _folders(catalogs: tuple[str, ...]) -> dict[str, Path]:
    return {name_of_catalog(catalog): Path(catalog) for catalog in catalogs if Path(catalog).is_dir()}


def name_of_catalog(catalog: str) -> str:
    """Name of the CatalogSource of a folder or an image."""
    if Path(catalog).is_dir():
        return name_of(Path(catalog).resolve().name)
    return name_of(catalog.partition("@")[0].rpartition("/")[2].partition(":")[0])


def _namespace(name: str) -> Manifest:
    return {"apiVersion": NAMESPACE.api_version, "kind": NAMESPACE.kind, "metadata": {"name": name}}


def _catalog(name: str, image: str, namespace: str) -> Manifest:
    return {
        "apiVersion": CATALOG_SOURCE.api_version,
        "kind": CATALOG_SOURCE.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "sourceType": "grpc",
            "image": image,
            "displayName": name,
            "publisher": "olmf up",
        },
    }
