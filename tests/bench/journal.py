"""What recording costs a run that reads and changes nothing, on a real server: `python -m tests.bench.journal`."""

from __future__ import annotations

import itertools
import multiprocessing
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

from eventing.effects import Performed
from eventing.events.job import Job
from eventing.journal import Recorder, Run
from eventing.journal.call_recorder import CallRecorder
from eventing.journal.outcomes import Decided
from eventing.journal.records import Decision
from eventing.local import redis_server
from eventing.runner import Runner, Steps
from eventing.workqueue import WorkQueue, connect
from shared.adapters.kube import Connection, KubeClient
from shared.api.manifest import Manifest
from shared.config import Settings
from shared.kinds import CONFIG_MAP
from shared.ports import Cluster
from shared.telemetry import configure_logging
from tests.bench.row import Row
from tests.kit.cluster import FixedClock

KEYS = 10_000


ONE: Manifest = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "one", "namespace": "olm", "uid": "uid", "resourceVersion": "7"},
    "data": {"text": "x" * 2_000},
}


class _OneObject(BaseHTTPRequestHandler):
    """An API server that has every object that is asked for, unchanged since the last time."""

    protocol_version = "HTTP/1.1"
    body = msgspec.json.encode(ONE)
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

    def do_GET(self) -> None:
        self.wfile.write(self.answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def _api_server() -> Iterator[KubeClient]:
    """In a process of its own, as an API server is: its work must not count as ours."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _OneObject)
    process = multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True)
    process.start()
    try:
        yield KubeClient(Connection(f"http://127.0.0.1:{server.server_port}"))
    finally:
        process.terminate()
        process.join()
        server.server_close()


class Silence(Recorder):
    """Records nothing."""

    def calls(self, fresh: dict[str, msgspec.Raw]) -> CallRecorder:
        return _Deaf(self._bodies, fresh)

    def decision(self, calls: CallRecorder, decided: Decided, performed: Performed) -> Decision:
        return Decision([], decided.end)

    def record(self, run: Run, fresh: dict[str, msgspec.Raw]) -> bytes:
        return b""


class _Deaf(CallRecorder):
    def port(self, port: type, target: object) -> Any:
        return target


def rows() -> Iterable[Row]:
    """What recording adds to the median run, turn and turn about, so that a neighbour's noise hits both alike."""
    server = redis_server.start()
    try:
        with connect(server.url) as client, _api_server() as cluster:
            silent, recording = map(statistics.median, _seconds(WorkQueue(client, Settings()), cluster))
    finally:
        server.stop()
    yield Row("throughput that recording costs a run with one read", 100 * (1 - silent / recording), 5, "%")


def _seconds(queue: WorkQueue, cluster: KubeClient) -> tuple[list[float], ...]:
    """How long each run took from claim to finish: those that nothing recorded, and the others."""
    steps = Steps("tests.eventing.runner.tiny")
    runners = [
        Runner({Cluster: cluster}, cluster, FixedClock(), steps=steps, recorder=recorder)
        for recorder in (Silence(b"key"), Recorder(b"key"))
    ]
    took: tuple[list[float], ...] = ([], [])
    queue.add([Job("demo/look_once", CONFIG_MAP.ref(f"key-{number}", "olm")) for number in range(KEYS)], "event")
    for turn in itertools.cycle(range(2)):
        started = time.perf_counter()
        claim = queue.claim(["demo"])
        if claim is None:
            break
        queue.finish(claim, runners[turn].run(claim, lambda *_: True))
        took[turn].append(time.perf_counter() - started)
    return took


if __name__ == "__main__":
    configure_logging("error")
    sys.stdout.write("\n".join(map(str, rows())) + "\n")
