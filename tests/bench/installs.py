"""How long a person waits on the sandbox, and what the programs weigh: `python -m tests.bench.installs`."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from shared import names
from shared.adapters.kube import KubeInventory
from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_SERVICE_VERSION, CONFIG_MAP, JOB, SUBSCRIPTION, Ref
from tests.bench.made_bundles import many_packages
from tests.bench.processors import resident
from tests.bench.row import Row
from tests.bench.timing import best, of_children
from tests.kit.installation import (
    SAMPLES,
    Installation,
    a_namespace,
    a_subscription,
    an_operator_group,
    condition,
    installed,
)

ROUNDS = 5
TIDE, LEDGER = "tide.v1.0.0", "ledger.v2.1.0"
OPERATORS, NAMESPACES = 10, 500
IS_FULL = os.environ.get("OLMF_BENCH_FULL") == "1"
PATIENCE_SECONDS = 900.0
POLL_SECONDS = 0.01


def rows() -> Iterable[Row]:
    """Every row of this page."""
    yield Row("`olmf --help`", best(_help, clock=of_children), 0.25, "s")
    with tempfile.TemporaryDirectory() as folder:
        yield Row(
            "`olmf up --detach`, ready", statistics.median(_up(Path(folder), number) for number in range(3)), 3, "s"
        )
        with installed(Path(folder) / "state", "--bundles", str(SAMPLES)) as installation:
            took = statistics.median(_one(installation, number) for number in range(ROUNDS))
            yield Row("one sample operator, Subscription to Succeeded, sandbox", took, 1.5, "s")
            yield _with_broken_ones(installation, took)
            yield Row("ten operators in ten namespaces at once, sandbox", _ten(installation), 12, "s")
    if IS_FULL:
        yield _weight()


def _help() -> None:
    subprocess.run([sys.executable, "-m", "eventing.cli.main", "--help"], capture_output=True, check=True)


def _up(folder: Path, number: int) -> float:
    started = time.perf_counter()
    with installed(folder / f"up-{number}", "--bundles", str(SAMPLES)):
        return time.perf_counter() - started


def _one(installation: Installation, number: int, others: tuple[Manifest, ...] = ()) -> float:
    namespace = f"one-{number}"
    installation.apply(a_namespace(namespace), an_operator_group(namespace, targets=(namespace,)), *others)
    for broken in others:
        _refused(installation, broken)
    _forget_bundles(installation)
    started = time.perf_counter()
    installation.apply(a_subscription("tide", namespace, channel="stable"))
    _until(lambda: _has_succeeded(installation, TIDE, namespace))
    return time.perf_counter() - started


def _with_broken_ones(installation: Installation, alone: float) -> Row:
    """One namespace, a Subscription to nothing in it, and a good one that comes later."""
    took = [
        _one(installation, number, (a_subscription("nothing", f"one-{number}"),)) for number in range(100, 100 + ROUNDS)
    ]
    return Row(
        "a good Subscription beside a broken one, against one alone", statistics.median(took) / alone, 1.5, "times"
    )


def _refused(installation: Installation, broken: Manifest) -> None:
    ref = SUBSCRIPTION.ref(broken["metadata"]["name"], broken["metadata"]["namespace"])
    installation.until(
        ref, lambda each: condition(each, "ResolutionFailed").get("status") == "True", "ResolutionFailed"
    )


def _ten(installation: Installation) -> float:
    namespaces = [f"ten-{number}" for number in range(OPERATORS)]
    for namespace in namespaces:
        installation.apply(a_namespace(namespace), an_operator_group(namespace, targets=(namespace,)))
    _forget_bundles(installation)
    started = time.perf_counter()
    installation.apply(*(a_subscription("tide", namespace, channel="stable") for namespace in namespaces))
    for namespace in namespaces:
        _until(lambda namespace=namespace: _has_succeeded(installation, TIDE, namespace))  # type: ignore[misc]  # typed
    return time.perf_counter() - started


def _weight() -> Row:
    """What worker and watcher together keep resident after 5,000 copies."""
    with (
        tempfile.TemporaryDirectory() as folder,
        installed(
            Path(folder) / "state", "--bundles", str(many_packages(Path(folder) / "bundles", OPERATORS))
        ) as installation,
    ):
        installation.apply(*(a_namespace(f"tenant-{number:03}") for number in range(NAMESPACES)))
        installation.apply(a_namespace("home"), an_operator_group("home"))
        installation.apply(*(a_subscription(f"tide{number}", "home") for number in range(OPERATORS)))
        _until(lambda: _copies(installation) >= OPERATORS * NAMESPACES)
        locked = sum(resident(process["pid"]) for process in installation.status()["processes"] if _is_weighed(process))
    return Row(f"worker and watcher with {OPERATORS} operators × {NAMESPACES} namespaces", locked / 2**20, 256, "MiB")


def _is_weighed(process: Manifest) -> bool:
    return process["name"] in ("worker", "watch")


def _copies(installation: Installation) -> int:
    """Names alone, and seldom: so many objects are a load of their own."""
    time.sleep(2)
    found = KubeInventory(installation.cluster).versions(CLUSTER_SERVICE_VERSION, labels={names.COPIED_FROM: "home"})
    return len(found)


def _has_succeeded(installation: Installation, name: str, namespace: str) -> bool:
    found = installation.cluster.get(CLUSTER_SERVICE_VERSION.ref(name, namespace)) or {}
    return bool((found.get("status") or {}).get("phase") == "Succeeded")


def _forget_bundles(installation: Installation) -> None:
    """A bundle that is unpacked would be taken as it is; and let the machine finish what the last round left behind."""
    for job in installation.cluster.list(JOB, "olm"):
        ref = Ref.of(job)
        installation.cluster.delete(CONFIG_MAP.ref(ref.name, ref.namespace))
        installation.until_gone(ref)
    time.sleep(1)


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{holds} did not hold within {PATIENCE_SECONDS} s")
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
