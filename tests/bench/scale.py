"""How costs grow with the size of a cluster, in parts: `python -m tests.bench scale`; SCALE.md has what was measured.

`OLMF_BENCH_SCALE` is the part of the full size (10,000 namespaces, 50 global operators, 2,000 Subscriptions, a million
waiting keys of 100,000 refs) that is built, 0.01 by default; `OLMF_BENCH_PARTS` names the parts to run.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise

from eventing.events.job import Job
from eventing.workqueue import Claim, WorkQueue
from eventing.workqueue.run_result import RunResult
from shared.config import Settings
from shared.kinds import Ref
from tests.bench import queue as queue_page
from tests.bench import scale_cluster, watch
from tests.bench.large_cluster import Cluster, serving
from tests.bench.processors import seconds_of, switches_of
from tests.bench.row import Row
from tests.bench.scale_cluster import sized

KEYS, REFS = sized(1_000_000, least=1_000), sized(100_000, least=100)
CLAIMS = 2_000
WORKERS = (1, 2, 4)
NO_OPS = sized(200_000, least=30_000)
GROWTH = 1.7
"""How much faster twice as many workers have to be, at least."""


def rows() -> Iterable[Row]:
    """The rows of the parts that were chosen, or of all."""
    chosen = os.environ.get("OLMF_BENCH_PARTS", ",".join(PARTS)).split(",")
    for part in chosen:
        yield from PARTS[part]()


def _queue() -> Iterator[Row]:
    """Claims while many keys wait: each ref has as many steps as there are keys for it."""
    with queue_page.fresh() as client:
        queue, steps = WorkQueue(client, Settings()), KEYS // REFS
        started = time.monotonic()
        for first in range(0, REFS, 1_000):
            jobs = [_job(number, step) for number in range(first, min(first + 1_000, REFS)) for step in range(steps)]
            queue.add(jobs, f"event-{first}")
        added = time.monotonic() - started
        what = f"{KEYS:,} keys of {REFS:,} refs"
        yield Row(f"adding {what}, each", 1e6 * added / KEYS, 500, "µs")
        client.config_resetstat()
        claims, claimed = _claims(queue)
        inside = client.info("latencystats")["latency_percentiles_usec_evalsha"]
        yield Row(f"a claim while {what} wait, p50", statistics.median(claims), 1, "ms")
        yield Row(f"a claim while {what} wait, p99", sorted(claims)[len(claims) * 99 // 100], 1, "ms")
        yield Row("that in Redis alone, p50", inside["p50"] / 1000, 1, "ms")
        yield Row("that in Redis alone, p99", inside["p99"] / 1000, 1, "ms")
        yield Row(f"the end of a run while {what} wait, p50", statistics.median(_ends(queue, claimed)), 1, "ms")
        bytes_ = int(client.info("memory")["used_memory"])
        yield Row(f"Redis with {what}, a key", bytes_ / KEYS, 1_000, "bytes")


def _job(number: int, step: int) -> Job:
    return Job(f"{queue_page.GROUP}/step-{step}", Ref("v1", "ConfigMap", f"ref-{number}", f"namespace-{number % 1000}"))


def _claims(queue: WorkQueue) -> tuple[list[float], list[Claim]]:
    """Milliseconds of each claim, and the claims."""
    took, claims = [], []
    for _ in range(min(CLAIMS, REFS)):
        started = time.perf_counter()
        claim = queue.claim([queue_page.GROUP])
        took.append(1000 * (time.perf_counter() - started))
        assert claim is not None
        claims.append(claim)
    return took, claims


def _ends(queue: WorkQueue, claims: Iterable[Claim]) -> Iterator[float]:
    """Milliseconds of the end of each run."""
    for number, claim in enumerate(claims):
        started = time.perf_counter()
        queue.finish(claim, RunResult(f"run-{number}", queue_page.RECORD))
        yield 1000 * (time.perf_counter() - started)


def _workers() -> Iterator[Row]:
    """Throughput of several workers, by processor time: on few cores the machine is the limit, not the queue."""
    each = {count: _cost(count) for count in WORKERS}
    for fewer, more in pairwise(WORKERS):
        growth = more / fewer * each[fewer]["workers"] / each[more]["workers"]
        what = f"throughput of {more} workers against {fewer}, by their processor time"
        yield Row(what, growth, GROWTH, "times", is_at_least=True)
    for count, cost in each.items():
        yield Row(f"processor time of {count} workers, for a no-op key", 1e6 * cost["workers"], 1_000, "µs")
        yield Row(f"processor time of Redis under {count} workers, for a no-op key", 1e6 * cost["redis"], 500, "µs")
        yield Row(f"waits of the threads of {count} workers, for a no-op key", cost["switches"], 10, "waits")


def _cost(count: int) -> Mapping[str, float]:
    """For a key: seconds of processor time of the workers and of Redis, and how often a thread of a worker waited."""
    with queue_page.fresh() as client:
        queue, server = WorkQueue(client, Settings()), int(client.info("server")["process_id"])
        for first in range(0, NO_OPS, 10_000):
            queue.add([_job(number, 0) for number in range(first, min(first + 10_000, NO_OPS))], "event")
        with queue_page.workers(client, "nothing", count) as pids:
            begun, before = _waiting(queue), (seconds_of(*pids), seconds_of(server), switches_of(*pids))
            while _waiting(queue):
                time.sleep(0.1)
            used = seconds_of(*pids) - before[0], seconds_of(server) - before[1], switches_of(*pids) - before[2]
    return {"workers": used[0] / begun, "redis": used[1] / begun, "switches": used[2] / begun}


def _waiting(queue: WorkQueue) -> int:
    depth = queue.depth()
    return depth.running + sum(depth.ready.values())


def _watcher() -> Iterator[Row]:
    """A watcher of synthetic objects: every namespace has a copy of each global operator."""
    in_each = {**watch.IN_EACH, "clusterserviceversions": scale_cluster.OPERATORS_AT_FULL_SIZE}
    cluster = Cluster(scale_cluster.NAMESPACES, in_each, watch.SMALL_VERSION_BYTES)
    megabytes, clock, processor = asyncio.run(_started(cluster))
    what = f"a watcher of {cluster.namespaces:,} namespaces with {len(cluster):,} objects"
    yield Row(f"memory of {what}", megabytes, 256, "MB")
    yield Row(f"start of {what}", clock, 60, "s")
    yield Row("processor time of that start", processor, 60, "s")


async def _started(cluster: Cluster) -> list[float]:
    async with serving(cluster) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _WATCH, server, stdout=asyncio.subprocess.PIPE
        )
        reported, _ = await process.communicate()
    return list(map(float, reported.split()))


_WATCH = """
import asyncio, resource, sys, time
from eventing.watch.program import Watcher
from shared.adapters.kube import Connection
from shared.telemetry import configure_logging

configure_logging("error")

async def main():
    started = time.monotonic()
    watcher = Watcher(Connection(sys.argv[1]), lambda events: None)
    watching = asyncio.create_task(watcher.run())
    await watcher.health.complete.wait()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, time.monotonic() - started, time.process_time())
    watching.cancel()

asyncio.run(main())
"""

PARTS: Mapping[str, Callable[[], Iterable[Row]]] = {
    "queue": _queue,
    "workers": _workers,
    "watcher": _watcher,
    "cluster": scale_cluster.rows,
}


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
