"""What the way from a change to an event costs, and from a Job to its end: `python -m tests.bench.watch`."""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from eventing.events.event import Event
from eventing.local.kubelet.program import Kubelet
from eventing.watch.program import Watcher
from shared import kinds
from shared.adapters.kube import KubeClient, connect
from shared.api.manifest import Manifest
from tests.bench.large_cluster import Cluster, serving
from tests.bench.row import Row
from tests.kit.sandbox import running_sandbox

CHANGES = 300
JOBS = 10
NAMESPACES, OPERATORS = 500, 10
VERSION_BYTES = 60_000
MANY_NAMESPACES, SMALL_VERSION_BYTES = 10_000, 8_000
IN_EACH = {
    "namespaces": 1, "serviceaccounts": 3, "roles": 1, "rolebindings": 4, "deployments": 3, "clusterserviceversions": 2,
    "configmaps": 2, "jobs": 5,
}  # fmt: skip
"""What a namespace of such a cluster has: as on OpenShift, with two operators that watch all of them."""


def rows() -> Iterable[Row]:
    """Every row of this page."""
    with tempfile.TemporaryDirectory() as folder, running_sandbox(Path(folder)) as kubeconfig:
        yield from asyncio.run(_changes(str(kubeconfig)))
        yield asyncio.run(_jobs(str(kubeconfig)))
    yield from asyncio.run(_memory())


async def _changes(kubeconfig: str) -> list[Row]:
    arrivals: dict[str, float] = {}
    enqueued = asyncio.Event()
    loop = asyncio.get_running_loop()

    def sink(events: Sequence[Event]) -> None:
        arrivals.update({event.id: time.perf_counter() for event in events})
        loop.call_soon_threadsafe(enqueued.set)

    client = KubeClient(connect(kubeconfig))
    watcher = Watcher(connect(kubeconfig), sink, kinds=(kinds.NAMESPACE,))
    watching = asyncio.create_task(watcher.run())
    await watcher.health.complete.wait()
    delays = []
    for number in range(CHANGES):
        patch: Manifest = {"metadata": {"annotations": {"n": str(number)}}}
        changed = await asyncio.to_thread(client.merge, kinds.NAMESPACE.ref("default"), patch)
        answered = time.perf_counter()
        desired = f"{changed['metadata']['uid']}.{changed['metadata']['resourceVersion']}.update"
        while desired not in arrivals:
            enqueued.clear()
            await enqueued.wait()
        delays.append(max(0.0, arrivals[desired] - answered))
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    delays.sort()
    return [
        Row("answer of a write to its event in the sink, p50", 1000 * statistics.median(delays), 5, "ms"),
        Row("answer of a write to its event in the sink, p99", 1000 * delays[int(0.99 * CHANGES)], 25, "ms"),
    ]


async def _jobs(kubeconfig: str) -> Row:
    """Against a program that does nothing, started anew."""
    client = KubeClient(connect(kubeconfig))
    kubelet = Kubelet(connect(kubeconfig), kubeconfig)
    acting = asyncio.create_task(kubelet.run())
    await kubelet.health.complete.wait()
    await asyncio.to_thread(_run_job, client, "warm-up")
    took = [await asyncio.to_thread(_run_job, client, f"job-{number}") for number in range(JOBS)]
    acting.cancel()
    await asyncio.gather(acting, return_exceptions=True)
    started = time.perf_counter()
    await asyncio.to_thread(subprocess.run, [sys.executable, "-m", "eventing.cli.main", "--help"], capture_output=True)
    return Row(
        "a Job from creation to its end, against a fresh `olmf`",
        statistics.median(took) / (time.perf_counter() - started),
        0.5,
        "times",
    )


def _run_job(client: KubeClient, name: str) -> float:
    container = {"name": "c", "image": "any", "command": ["olmf", "--help"]}
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    meta = {"name": name, "namespace": "default"}
    started = time.perf_counter()
    client.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec})
    while True:
        found = client.get(kinds.JOB.ref(name, "default")) or {}
        if (found.get("status") or {}).get("succeeded"):
            return time.perf_counter() - started
        time.sleep(0.002)


async def _memory() -> list[Row]:
    """Watchers in processes of their own: ten operators copied to 500 namespaces, and a cluster of 10,000."""
    copies = Cluster(NAMESPACES, {"clusterserviceversions": OPERATORS}, VERSION_BYTES)
    large = Cluster(MANY_NAMESPACES, IN_EACH, SMALL_VERSION_BYTES)
    what = f"memory of a watcher of {MANY_NAMESPACES:,} namespaces with {len(large):,} objects"
    return [
        Row(f"memory of a watcher of {len(copies):,} copies", await _weighed(copies), 128, "MB"),
        Row(what, await _weighed(large), 256, "MB"),
    ]


async def _weighed(cluster: Cluster) -> float:
    async with serving(cluster) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _WATCH_AND_WEIGH, server, stdout=asyncio.subprocess.PIPE
        )
        reported, _ = await process.communicate()
    return float(reported)


_WATCH_AND_WEIGH = """
import asyncio, resource, sys
from eventing.watch.program import Watcher
from shared.adapters.kube import Connection

async def main():
    watcher = Watcher(Connection(sys.argv[1]), lambda events: None)
    watching = asyncio.create_task(watcher.run())
    await watcher.health.complete.wait()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    watching.cancel()

asyncio.run(main())
"""
