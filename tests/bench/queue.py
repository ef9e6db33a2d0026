"""The work queue's budgets, on a real server with real workers: `python -m tests.bench.queue`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from redis import Redis

from eventing.events.job import Job
from eventing.local import redis_server
from eventing.worker.drainer import Run
from eventing.worker.parent import work
from eventing.workqueue import Claim, WorkQueue, connect
from eventing.workqueue.run_result import RunResult
from shared.config import Settings
from shared.kinds import Ref
from shared.telemetry import configure_logging
from tests.bench.row import Row

GROUP = "bench"
RESYNCS = 1_000
KEYS = 20_000
FLAT_KEYS = int(os.environ.get("OLMF_BENCH_KEYS", "200000"))
RECORD = b"x" * 512
"""About what a run that did nothing leaves in the journal."""


def rows() -> Iterable[Row]:
    """Measure one after the other, each on a fresh server."""
    yield from _latency_and_start()
    yield from _throughput()
    yield _coalescing()
    yield _journal_cost()
    yield from _memory()


def _latency_and_start() -> Iterator[Row]:
    with fresh() as client:
        started = time.monotonic()
        with _worker(client, "tell"):
            yield Row("worker ready after its start", time.monotonic() - started, 0.7, "s")
            queue, waits = WorkQueue(client, Settings()), []
            for number in range(RESYNCS):
                enqueued = time.monotonic()
                queue.add([_job(f"one-{number}")], "event")
                answer = client.blpop(["told"], timeout=5)
                assert answer, "the worker does not run"
                waits.append((float(answer[1]) - enqueued) * 1000)
    waits.sort()
    yield Row("event to step start, p50", waits[len(waits) // 2], 5, "ms")
    yield Row("event to step start, p99", waits[len(waits) * 99 // 100], 25, "ms")


def _throughput() -> Iterator[Row]:
    with fresh() as client, _worker(client, "nothing"):
        yield Row("no-op keys of one worker, journal included", drain(client, KEYS), 1_500, "keys/s", is_at_least=True)


def _coalescing() -> Row:
    with fresh() as client:
        queue = WorkQueue(client, Settings())
        queue.add([_job("one")], "event")
        claim = queue.claim([GROUP])
        for number in range(10_000):
            queue.add([_job("one")], f"event-{number}")
        more = 0
        while claim:
            queue.finish(claim, RunResult("run", RECORD))
            claim = queue.claim([GROUP])
            more += claim is not None
        return Row("runs after 10,000 adds of one key while it ran", more, 1, "runs")


def _journal_cost() -> Row:
    """What the server itself counts, because a neighbour's noise is greater than what we look for."""
    with fresh() as client:
        queue = WorkQueue(client, Settings())
        queue.add([_job(f"key-{number}") for number in range(KEYS)], "event")
        started = time.monotonic()
        while claim := queue.claim([GROUP]):
            queue.finish(claim, RunResult("run", RECORD))
        took = time.monotonic() - started
        in_journal = client.info("commandstats")["cmdstat_xadd"]["usec"] / 1e6
        return Row("time of a no-op run that goes into its journal entry", 100 * in_journal / took, 5, "%")


def _memory() -> Iterator[Row]:
    with fresh() as client, _worker(client, "nothing"):
        drain(client, KEYS)
        client.xtrim("olmf:journal", maxlen=0, approximate=False)
        redis_before, worker_before = _redis_bytes(client), _rss(client)
        drain(client, FLAT_KEYS)
        client.xtrim("olmf:journal", maxlen=0, approximate=False)
        grown = (_redis_bytes(client) - redis_before) / 2**20
        yield Row(f"Redis grows over {FLAT_KEYS:,} jobs, journal aside", grown, 1, "MiB")
        yield Row(f"the worker grows over {FLAT_KEYS:,} jobs", (_rss(client) - worker_before) / 2**20, 4, "MiB")


def drain(client: Redis, keys: int) -> float:
    """Keys a second that the worker needs for so many, enqueued in batches beforehand and meanwhile."""
    queue = WorkQueue(client, Settings())
    started = time.monotonic()
    for first in range(0, keys, 10_000):
        queue.add([_job(f"key-{number}") for number in range(first, min(first + 10_000, keys))], "event")
        while sum(queue.depth().ready.values()) > 2_000:
            time.sleep(0.02)
    while queue.depth().running or sum(queue.depth().ready.values()):
        time.sleep(0.01)
    return keys / (time.monotonic() - started)


def _redis_bytes(client: Redis) -> int:
    return int(client.info("memory")["used_memory"])


def _rss(client: Redis) -> int:
    with open(f"/proc/{int(client.get('child') or 0)}/statm") as file:  # noqa: PTH123  # not a file, a question
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _job(name: str) -> Job:
    return Job(f"{GROUP}/nothing", Ref("v1", "ConfigMap", name, "ns"))


@contextmanager
def fresh() -> Iterator[Redis]:
    """A client of a server that has nothing."""
    server = redis_server.start()
    try:
        with connect(server.url) as client:
            client.set("url", server.url)
            yield client
    finally:
        server.stop()


@contextmanager
def _worker(client: Redis, behaviour: str) -> Iterator[int]:
    url = (client.get("url") or b"").decode()  # type: ignore[union-attr]  # bytes: we do not decode
    program = [sys.executable, "-m", "tests.bench.queue", behaviour, url]
    with subprocess.Popen(program, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.terminate()


@contextmanager
def workers(client: Redis, behaviour: str, count: int) -> Iterator[list[int]]:
    """So many workers; the process of each."""
    with ExitStack() as stack:
        yield [stack.enter_context(_worker(client, behaviour)) for _ in range(count)]


def _be_worker(behaviour: str, url: str) -> int:
    def make_run(queue: WorkQueue) -> Run:
        client = queue.client
        client.set("child", os.getpid())

        def run(_: Claim) -> RunResult:
            if behaviour == "tell":
                client.rpush("told", time.monotonic())
            return RunResult("run", RECORD)

        return run

    configure_logging("warning")
    at_once = int(os.environ.get("OLMF_CONCURRENCY", Settings().concurrency))
    settings = Settings(redis_url=url, steps=(GROUP,), concurrency=at_once)
    return work(settings, make_run, lambda: print("ready", flush=True))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        sys.exit(_be_worker(*sys.argv[1:]))
    for row in rows():
        print(row, flush=True)
