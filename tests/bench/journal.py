"""What recording costs a run that reads and changes nothing, on a real server: `python -m tests.bench.journal`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from eventing import redis_server
from eventing.effects import Performed
from eventing.journal import Recorder, Run
from eventing.journal.outcomes import Decided
from eventing.journal.records import Decision
from eventing.journal.tape import Tape
from eventing.routes import Job
from eventing.runner import Runner, Steps
from eventing.workqueue import WorkQueue, connect
from shared.api.manifest import Manifest
from shared.config import Settings
from shared.kinds import CONFIG_MAP, Ref
from shared.ports import Cluster
from shared.telemetry import configure_logging
from tests.bench.row import Row
from tests.eventing.effects.fake_api import FakeApi
from tests.kit.cluster import FixedClock

KEYS = 2_000
ROUNDS = 7


@dataclass(frozen=True)
class OneObject:
    """A Cluster that has every object that is asked for, unchanged since the last time."""

    manifest: Manifest

    def get(self, ref: Ref) -> Manifest | None:
        """The object."""
        return self.manifest


class Silence(Recorder):
    """Records nothing."""

    def tape(self, fresh: dict[str, msgspec.Raw]) -> Tape:
        return _Deaf(self._bodies, fresh)

    def decision(self, tape: Tape, decided: Decided, performed: Performed) -> Decision:
        return Decision([], decided.end)

    def record(self, run: Run, fresh: dict[str, msgspec.Raw]) -> bytes:
        return b""


class _Deaf(Tape):
    def port(self, port: type, target: object) -> Any:
        return target


def rows() -> Iterable[Row]:
    """The share of throughput that recording takes: best of several rounds, turn and turn about."""
    recorders = {"silent": Silence(b"key"), "recording": Recorder(b"key")}
    best = dict.fromkeys(recorders, 0.0)
    with TemporaryDirectory() as folder:
        server = redis_server.start(Path(folder))
        try:
            with connect(server.url) as client:
                queue = WorkQueue(client, Settings())
                for _ in range(ROUNDS):
                    for name, recorder in recorders.items():
                        best[name] = max(best[name], _keys_a_second(queue, recorder))
        finally:
            server.stop()
    cost = max(0.0, 100 * (1 - best["recording"] / best["silent"]))
    yield Row("throughput that recording a read and its answer costs", cost, 5, "%")


def _keys_a_second(queue: WorkQueue, recorder: Recorder) -> float:
    text = {"text": "x" * 2_000}
    meta = {"name": "one", "namespace": "olm", "uid": "uid", "resourceVersion": "7"}
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": text}
    steps = Steps("tests.eventing.runner.tiny")
    runner = Runner({Cluster: OneObject(manifest)}, FakeApi(), FixedClock(), steps=steps, recorder=recorder)
    queue.add([Job("demo/look_once", CONFIG_MAP.ref(f"key-{number}", "olm")) for number in range(KEYS)], "event")
    started = time.monotonic()
    while claim := queue.claim(["demo"]):
        queue.finish(claim, runner.run(claim, lambda: True))
    return KEYS / (time.monotonic() - started)


if __name__ == "__main__":
    configure_logging("error")
    sys.stdout.write("\n".join(map(str, rows())) + "\n")
