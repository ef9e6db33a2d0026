"""What an installation asks of a real API server, and how long it takes: `python -m tests.bench.requests`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from shared.kinds import CLUSTER_SERVICE_VERSION, NAMESPACE
from shared.names import COPIED_FROM
from tests.bench import plain_client
from tests.bench.audit import Asked, AuditLog, listed
from tests.bench.row import Row
from tests.conformance.control_plane import running_control_plane
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription, an_operator_group, installed

ARCHIVE = Path(__file__).parents[3] / "shared" / "data" / "bundles.tar.zst"
"""The real bundles; without them the rows about `prometheus` are left out, and said to be."""
OPERATORS = 10
NAMESPACES = 200
STEADY_SECONDS = int(os.environ.get("OLMF_BENCH_STEADY_SECONDS", "60"))
PROMETHEUS, RABBITMQ = "prometheus", "rabbitmq-cluster-operator"
REAL_PACKAGES = {PROMETHEUS: "prometheusoperator.0.56.3", RABBITMQ: "rabbitmq-cluster-operator.v2.22.3"}
"""Package to the version at the head of its default channel."""
LEDGER = "ledger.v2.1.0"
AFTER_SECONDS = 30
QUIET_SECONDS = 3.0
POLL_SECONDS = 0.1
PATIENCE_SECONDS = 120.0


def rows() -> Iterable[Row]:
    """Every row of this page, one after the other in one installation."""
    with tempfile.TemporaryDirectory() as folder, real(Path(folder)) as (installation, audit, has_real):
        settle(audit)
        if has_real:
            yield from _one_real_operator(installation, audit, PROMETHEUS, seconds=1.5, requests=85)
            yield from _one_real_operator(installation, audit, RABBITMQ, seconds=2.5, requests=110)
            yield _ten_real_operators(installation, audit)
        yield from _global_operator(installation, audit)
        yield from _touch(installation, audit)
        yield from _steady(audit)


@contextmanager
def real(folder: Path) -> Iterator[tuple[Installation, AuditLog, bool]]:
    """An installation on a real API server, its audit log, and whether it serves the real bundles."""
    served = [SAMPLES]
    if ARCHIVE.exists():
        words = [f"bundles/{package}" for package in REAL_PACKAGES]
        subprocess.run(["tar", "--zstd", "-xf", str(ARCHIVE), "-C", str(folder), *words], check=True)
        served.append(folder / "bundles")
    audit = AuditLog(folder)
    words = [word for bundles in served for word in ("--bundles", str(bundles))]
    with (
        running_control_plane(folder, *audit.server_words) as kubeconfig,
        installed(folder / "state", "--kubeconfig", str(kubeconfig), *words) as installation,
    ):
        yield installation, audit, len(served) > 1


def _one_real_operator(
    installation: Installation, audit: AuditLog, package: str, *, seconds: float, requests: int
) -> Iterator[Row]:
    installation.apply(a_namespace(package), an_operator_group(package, targets=(package,)))
    settle(audit)
    before = plain_client.present(installation.cluster)
    asked, started = audit.mark(), time.perf_counter()
    installation.apply(a_subscription(package, package))
    _until(lambda: _phase(installation, REAL_PACKAGES[package], package) == "Succeeded")
    took = time.perf_counter() - started
    objects = plain_client.made(installation.cluster, before)
    time.sleep(AFTER_SECONDS)
    found = asked()
    end = 1 + max(index for index, one in enumerate(found) if one.resource == "clusterserviceversions/status")
    yield Row(f"{package} on a real API server, Subscription to Succeeded", took, seconds, "s")
    yield Row(
        f"{package}: against a plain client that makes its objects", took / plain_client.seconds(objects), 1.4, "times"
    )
    yield _counted(f"{package}: our requests up to Succeeded", found[:end], requests, "requests")
    yield _counted(f"{package}: our requests in the {AFTER_SECONDS} s after that", found[end:], 100, "requests")


def _ten_real_operators(installation: Installation, audit: AuditLog) -> Row:
    holders = [f"monitoring-{number}" for number in range(OPERATORS)]
    for home in holders:
        installation.apply(a_namespace(home), an_operator_group(home, targets=(home,)))
    settle(audit)
    started = time.perf_counter()
    installation.apply(*(a_subscription(PROMETHEUS, home) for home in holders))
    _until(lambda: all(_phase(installation, REAL_PACKAGES[PROMETHEUS], home) == "Succeeded" for home in holders))
    return Row(
        f"prometheus in {OPERATORS} namespaces at once on a real API server", time.perf_counter() - started, 8, "s"
    )


def _global_operator(installation: Installation, audit: AuditLog) -> Iterator[Row]:
    installation.apply(a_namespace("global"), an_operator_group("global"))
    missing = NAMESPACES + 1 - len(installation.cluster.list(NAMESPACE))
    installation.apply(*(a_namespace(f"tenant-{number:03}") for number in range(missing)))
    settle(audit)
    targets = len(installation.cluster.list(NAMESPACE)) - 1
    asked, started = audit.mark(), time.perf_counter()
    installation.apply(a_subscription("ledger", "global"))
    _until(lambda: _phase(installation, LEDGER, "global") == "Succeeded")
    _until(lambda: _finished_copies(installation) >= targets)
    took = time.perf_counter() - started
    settle(audit)
    yield Row(f"one global operator over {NAMESPACES} namespaces", took, 8, "s")
    yield _counted(f"one global operator over {NAMESPACES} namespaces: our writes", _writes(asked()), 430, "writes")


def _touch(installation: Installation, audit: AuditLog) -> Iterator[Row]:
    ref, asked = CLUSTER_SERVICE_VERSION.ref(LEDGER, "global"), audit.mark()
    installation.cluster.merge(ref, {"metadata": {"annotations": {"example.com/touched": "yes"}}})
    settle(audit)
    yield _counted("touching one annotation of its version: our writes", _writes(asked()), 1, "writes")


def _steady(audit: AuditLog) -> Iterator[Row]:
    asked = audit.mark()
    time.sleep(STEADY_SECONDS)
    found = asked()
    yield _counted(f"steady state, {STEADY_SECONDS} s: our writes", _writes(found), 0, "writes")
    yield _counted(
        f"steady state, {STEADY_SECONDS} s: our reads", tuple(one for one in found if one.is_read), 0, "reads"
    )


def _counted(name: str, asked: tuple[Asked, ...], budget: int, unit: str) -> Row:
    if os.environ.get("OLMF_BENCH_LIST"):
        sys.stderr.write(f"{name}\n{listed(asked)}\n")
    return Row(name, len(asked), budget, unit)


def _writes(asked: tuple[Asked, ...]) -> tuple[Asked, ...]:
    return tuple(one for one in asked if not one.is_read)


def _phase(installation: Installation, name: str, namespace: str) -> str:
    found = installation.cluster.get(CLUSTER_SERVICE_VERSION.ref(name, namespace)) or {}
    return str((found.get("status") or {}).get("phase"))


def _finished_copies(installation: Installation) -> int:
    """How many copies have the status of their original; a first status is patched, a later one is replaced."""
    copies = installation.cluster.list(CLUSTER_SERVICE_VERSION, labels={COPIED_FROM: "global"})
    return sum((copy.get("status") or {}).get("phase") == "Succeeded" for copy in copies)


def settle(audit: AuditLog) -> None:
    """Wait until we have asked for nothing for a while."""

    def is_quiet() -> bool:
        asked = audit.mark()
        time.sleep(QUIET_SECONDS)
        return not asked()

    _until(is_quiet)


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{holds} did not hold within {PATIENCE_SECONDS} s")
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
