"""What a Redis costs that is far away: round trips of a run, and two samples in each of four namespaces.

`python -m tests.bench.redis_latency [MS …]` tells the time and the round trips with so many milliseconds more (0: with
the proxy alone).
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from eventing.workqueue import WorkQueue, connect
from shared.config import Settings
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION
from tests.bench.row import Row
from tests.bench.slow_redis import slow_redis
from tests.kit.installation import (
    SAMPLES,
    Installation,
    a_namespace,
    a_subscription,
    an_operator_group,
    installed,
)

VERSIONS = {"tide": "tide.v1.0.0", "beacon": "beacon.v1.1.0"}
PLACES = ("one", "two", "three", "four")
FAR, NEAR = 200, 5
PATIENCE_SECONDS = 600.0
POLL_SECONDS = 0.1
IDLE = frozenset({"BLPOP", "sweep", "LMOVE", "PING", "INFO"})
"""What is asked whether anything happens or not."""


@dataclass(frozen=True)
class Course:
    """How it went until all of them were installed."""

    seconds: float
    runs: int
    trips: Counter[str]

    @property
    def trips_per_run(self) -> float:
        """Without those of idle programs."""
        return sum(count for what, count in self.trips.items() if what not in IDLE) / self.runs


def rows() -> Iterable[Row]:
    """Every row of this page."""
    what = f"{len(VERSIONS)} samples in each of {len(PLACES)} namespaces, Redis"
    near, far = course(NEAR), course(FAR)
    yield Row(f"{what} {NEAR} ms away: steps a second", near.runs / near.seconds, 15, "steps/s", is_at_least=True)
    yield Row(f"{what} {FAR} ms away: steps a second", far.runs / far.seconds, 4, "steps/s", is_at_least=True)
    yield Row(f"{what} {FAR} ms away: the last", far.seconds, 60, "s")
    yield Row("round trips to Redis of a run, with those of its events", near.trips_per_run, 5, "trips")


def course(milliseconds: float, *, runs_at_once: int = 8) -> Course:
    """How it goes with that many milliseconds more for each answer of Redis."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with slow_redis(folder, milliseconds) as slow:
            environ = {**slow.environ, "OLMF_CONCURRENCY": str(runs_at_once)}
            with installed(folder / "state", "--bundles", str(SAMPLES), environ=environ) as installation:
                ready = CATALOG_SOURCE.ref("local", "olm")
                installation.until(ready, lambda each: "READY" in str(each["status"]), "READY")
                for place in PLACES:
                    installation.apply(a_namespace(place), an_operator_group(place, targets=(place,)))
                installation.until_it_rests()
                return _course(installation, slow.trips)


def _course(installation: Installation, trips: object) -> Course:
    assert callable(trips)
    address = json.loads((installation.state / "olmf.json").read_text())["redis"]
    with connect(f"{address}.real") as client:
        queue = WorkQueue(client, Settings())
        runs, before, started = _runs(queue), trips(), time.monotonic()
        for place in PLACES:
            installation.apply(*(a_subscription(package, place) for package in VERSIONS))
        while not _are_all_there(installation):
            if time.monotonic() - started > PATIENCE_SECONDS:
                raise TimeoutError(f"not installed after {PATIENCE_SECONDS} s")
            time.sleep(POLL_SECONDS)
        seconds = time.monotonic() - started
        time.sleep(0.3)  # the file of the proxy is written now and then
        return Course(seconds, _runs(queue) - runs, Counter(trips()) - before)


def _are_all_there(installation: Installation) -> bool:
    found = {
        (each["metadata"]["namespace"], each["metadata"]["name"])
        for each in installation.cluster.list(CLUSTER_SERVICE_VERSION)
        if (each.get("status") or {}).get("phase") == "Succeeded"
    }
    return found >= {(place, version) for place in PLACES for version in VERSIONS.values()}


def _runs(queue: WorkQueue) -> int:
    return sum(each.count for each in queue.ran() if each.result not in ("warned", "parked"))


if __name__ == "__main__":
    for number in sys.argv[1:] or (str(NEAR), str(FAR)):
        found = course(float(number))
        rate = f"{found.runs} runs, {found.runs / found.seconds:.1f} steps/s"
        print(f"{number} ms: {found.seconds:.1f} s, {rate}, {found.trips_per_run:.1f} round trips a run")
        print("  " + ", ".join(f"{what} {count}" for what, count in found.trips.most_common()), flush=True)
