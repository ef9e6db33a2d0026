"""Starts and stops one installation: its programs and objects, the events of its served folders, its logs' sizes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import threading
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Never

import structlog

from eventing.endpoint.sender import send
from eventing.events.event import Event
from eventing.local.image_registry.folder import State, state_of
from eventing.local.objects import leave, make_objects
from eventing.local.plan import Plan, repeated
from eventing.local.processes.interrupt import ending_signals
from eventing.local.processes.parent_watch import end_with_supervisor
from eventing.local.processes.supervisor import Program, Supervisor
from eventing.local.served import Served, remember
from shared import names
from shared.adapters.kube import ApiError, ConnectionSettingError
from shared.kinds import Ref

LONG_WORKERS = ("worker-long-1", "worker-long-2")
"""Where there are two, one namespace cannot stop the long work of the others."""
_LEAVE_SECONDS = 5
log = structlog.get_logger()
FOLDER_SECONDS = 1.0
"""Interval of the checks; they read no files."""
LOG_BYTES = 16 * 1024 * 1024
LOG_SECONDS = 10
"""Interval of the checks of their sizes."""


async def run(plan: Plan, on_ready: Callable[[Supervisor], None]) -> None:
    """Start all programs, call `on_ready`, wait for one of `ending_signals`, then stop all programs.

    Raises AlreadyRunningError, StartError, TakeOverError, ApiError or ConnectionSettingError.
    """
    plan.state.make()
    supervisor = Supervisor(plan.state)
    await supervisor.begin()  # why: a fork of later would hold what claims the state
    end_with_supervisor()
    with plan.state.claimed():
        remember(plan.state, Served(plan.bundles, tuple(plan.folders().values())), plan.kubeconfig)
        await _run(plan, supervisor, on_ready)


async def _run(plan: Plan, supervisor: Supervisor, on_ready: Callable[[Supervisor], None]) -> None:
    supervisor.publish()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in ending_signals():
        loop.add_signal_handler(number, stop.set)
    try:
        start = asyncio.create_task(_start(plan, supervisor))
        ended = asyncio.create_task(stop.wait())
        await asyncio.wait({start, ended}, return_when=asyncio.FIRST_COMPLETED)
        if start.done():
            start.result()
            on_ready(supervisor)
            async with asyncio.TaskGroup() as tasks:
                folders = notify_on_change(
                    plan.served(), supervisor.addresses.endpoint, plan.state.make_endpoint_token()
                )
                companions = [tasks.create_task(work) for work in (folders, keep_short(plan.state.logs))]
                await ended
                for task in companions:
                    task.cancel()
        else:
            start.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await start
    finally:
        await supervisor.stop()
        if plan.kubeconfig:
            await _leave(plan, supervisor.addresses.registry)


async def _leave(plan: Plan, registry: str) -> None:
    """Delete our catalogs from an existing cluster; those in a sandbox stay, because it stops with us."""
    leaving = _aside(lambda: leave(plan, registry))
    try:
        await asyncio.wait_for(leaving, _LEAVE_SECONDS)
    except (TimeoutError, ApiError, ConnectionSettingError) as error:
        log.warning("catalogs_stay", kubeconfig=str(plan.kubeconfig), error=f"{type(error).__name__}: {error}")


async def _start(plan: Plan, supervisor: Supervisor) -> None:
    first = [Program("redis", ("redis", "--state", str(plan.state.root / "redis")))]
    if plan.kubeconfig is None:
        own = {"OLMF_PORT": "0", "OLMF_POD_NETWORK": _pod_network(plan)}
        first.append(Program("api", ("api", "--state", str(plan.state.root)), own))
    if folders := [*repeated("--bundles", plan.bundles), *repeated("--catalog", plan.folders().values())]:
        first.append(Program("content", ("content", *folders), _at_a_port(plan, "content")))
    found = await supervisor.start(first)
    kubeconfig = str(plan.kubeconfig or plan.state.kubeconfig)
    supervisor.publish(kubeconfig=kubeconfig, redis=found["redis"], registry=found.get("content", ""))
    has_nodes = await _aside(lambda: make_objects(plan, kubeconfig, found.get("content", "")))
    plan.state.make_endpoint_token()
    environ = {
        "OLMF_ENDPOINT_TOKEN_FILE": str(plan.state.endpoint_token),
        "OLMF_REDIS_URL": found["redis"],
        "OLMF_KUBECONFIG": kubeconfig,
        "OLMF_POD_NETWORK": _pod_network(plan),
        "OLMF_CONTENT": str(plan.state.root / "content"),
        "OLMF_GLOBAL_NAMESPACE": plan.namespace,
        "OLMF_CATALOGS_URL": f"http://127.0.0.1:{plan.state.port_of('catalogs')}",
        "OLMF_CATALOGS_ADDRESS": os.environ.get("OLMF_CATALOGS_ADDRESS", f"localhost:{plan.state.port_of('registry')}"),
        "OLMF_REGISTRY_PORT": str(plan.state.port_of("registry")),
        "OLMF_ALLOWED_REGISTRY_ADDRESSES": allowed_addresses(os.environ),
        # Pods of real Nodes reach neither a registry on our loopback nor an image of this tree.
        **({"OLMF_UNPACK": "direct"} if has_nodes else {}),
        # The sandbox answers within a millisecond: runs beside each other would only share its processor and ours.
        **({"OLMF_CONCURRENCY": os.environ.get("OLMF_CONCURRENCY", "1")} if plan.kubeconfig is None else {}),
    }
    names = ["worker", "endpoint", "scheduler", "catalogs"]
    names += ["watch"] if plan.source == "watch" else []
    names += [] if has_nodes else ["kubelet"]
    programs = [Program(name, (name,), {**environ, **_at_a_port(plan, name)}) for name in names]
    programs += [Program(name, ("worker", "--lane", "long"), environ) for name in LONG_WORKERS]
    second = await supervisor.start(programs)
    supervisor.publish(endpoint=second["endpoint"], ready=True)


def allowed_addresses(environ: Mapping[str, str]) -> str:
    """What the caller allows, and this machine: our own registry is here, as are those that people start on it."""
    return ",".join(("127.0.0.0/8", "::1", environ.get("OLMF_ALLOWED_REGISTRY_ADDRESSES", "")))


def _pod_network(plan: Plan) -> str:
    """Where the simulated kubelet serves the way to its Pods; an existing cluster may know another place."""
    return os.environ.get("OLMF_POD_NETWORK") or f"127.0.0.1:{plan.state.port_of('pods')}"


async def _aside(work: Callable[[], bool]) -> bool:
    """Run `work` in a daemon thread, so that an API server that does not answer does not delay our end."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[bool] = loop.create_future()

    def settle(act: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the result is not needed
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


async def notify_on_change(
    folders: Mapping[Ref, tuple[Path, ...]], endpoint: str, token: str = "", *, poll_seconds: float = FOLDER_SECONDS
) -> None:
    """Send `io.olmf.resync.requested` about a CatalogSource whenever one of its folders changed; until cancelled."""
    seen = {ref: await asyncio.to_thread(_state, paths) for ref, paths in folders.items()}
    while folders:
        await asyncio.sleep(poll_seconds)
        for ref, paths in folders.items():
            now = await asyncio.to_thread(_state, paths)
            if now != seen[ref]:
                resync = Event(id=f"folder-{uuid.uuid4()}", type=names.RESYNC_REQUESTED, source="/olmf/up", ref=ref)
                try:
                    await asyncio.to_thread(send, endpoint, resync, token=token)
                    seen[ref] = now
                except OSError as error:  # the endpoint is being restarted: sent at the next check
                    log.warning("poke_failed", ref=str(ref), error=str(error))


def _state(folders: tuple[Path, ...]) -> State:
    return tuple(map(state_of, folders))


async def keep_short(folder: Path) -> Never:
    """Shorten the logs in a folder again and again, until cancelled."""
    while True:
        shorten(folder)
        await asyncio.sleep(LOG_SECONDS)


def shorten(folder: Path, *, most: int = LOG_BYTES) -> None:
    """Move the content of each long log to `<name>.old`, which is replaced. Lines written during the copy are lost.

    The log stays the same file, because its program has it open for appending.
    """
    for file in folder.glob("*.log"):
        try:
            if file.stat().st_size > most:
                shutil.copyfile(file, file.with_suffix(".old"))
                os.truncate(file, 0)
        except OSError as error:  # e.g. a full disk; tried again at the next check
            log.warning("log_stays", file=str(file), error=str(error))
