"""A sandbox with many namespaces, global operators and Subscriptions: memory, a new namespace, a touched version, …"""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from redis import Redis

from eventing.journal import STREAM, RedisJournal, Run
from eventing.journal.journal_index import writes_of
from eventing.workqueue import connect
from shared import names
from shared.adapters.kube import KubeInventory
from shared.api.manifest import Manifest
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION, Ref
from tests.bench.made_bundles import many_packages
from tests.bench.processors import resident, seconds_of
from tests.bench.row import Row
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription, an_operator_group, installed

SCALE: Final = float(os.environ.get("OLMF_BENCH_SCALE", "0.01"))


def sized(full: int, *, least: int = 1) -> int:
    """So much of something as belongs to the part of the full size that is built."""
    return max(least, round(full * SCALE))


OPERATORS_AT_FULL_SIZE: Final = 50
NAMESPACES: Final = sized(10_000, least=20)
OPERATORS: Final = sized(OPERATORS_AT_FULL_SIZE, least=2)
SUBSCRIPTIONS: Final = sized(2_000, least=4)
HOME: Final = "operators-home"
RESOLVE: Final = "subscription/resolve_subscriptions"
WHILE_AWAY: Final = 5
"""Namespaces that are made while the watcher starts anew."""
QUIET_MS: Final = 8_000
"""What is not written for so long is not a consequence any more."""
PATIENCE_SECONDS: Final = 3_600.0


@dataclass(frozen=True)
class Cluster:
    """A running installation, and what the parts look at."""

    found: Installation
    redis: Redis
    bundles: Path

    def runs_after(self, act: Callable[[], object]) -> list[Run]:
        """The runs that follow from an act, until nothing follows any more."""
        newest: Any = self.redis.xrevrange(STREAM, count=1)
        act()
        entries = RedisJournal(self.redis).entries(newest[0][0].decode(), block_ms=QUIET_MS, is_brief=True)
        return [entry.run for entry in entries if hasattr(entry, "run")]

    def pid_of(self, program: str) -> int:
        """The process of a program."""
        return next(int(one["pid"]) for one in self.found.status()["processes"] if one["name"] == program)

    def copies(self, namespace: str = "") -> int:
        """Copies of the global operators; names alone: so many objects are a load of their own."""
        inventory = KubeInventory(self.found.cluster)
        labels = {names.COPIED_FROM: HOME}
        if namespace:
            return len(self.found.cluster.list(CLUSTER_SERVICE_VERSION, namespace, labels=labels))
        return len(inventory.versions(CLUSTER_SERVICE_VERSION, labels=labels))


def rows() -> Iterator[Row]:
    """Every row of this part."""
    with tempfile.TemporaryDirectory() as folder:
        bundles = many_packages(Path(folder) / "bundles", OPERATORS)
        shutil.copytree(SAMPLES / "beacon", bundles / "beacon")
        shutil.copytree(SAMPLES / "tide", bundles / "tide")
        with installed(Path(folder) / "state", "--bundles", str(bundles)) as found:
            cluster = Cluster(found, connect(found.status()["redis"]), bundles)
            yield from _filled(cluster)
            yield from _memory(cluster)
            yield _touched(cluster)
            yield from _new_namespace(cluster)
            yield from _new_version(cluster)
            yield from _watcher_restarted(cluster)


def _filled(cluster: Cluster) -> Iterator[Row]:
    """Namespaces, global operators, and tenants with one Subscription each."""
    found = cluster.found
    found.apply(*(a_namespace(f"tenant-{number:05}") for number in range(NAMESPACES)))
    found.apply(a_namespace(HOME), an_operator_group(HOME))
    started = time.monotonic()
    found.apply(*(a_subscription(f"tide{number}", HOME) for number in range(OPERATORS)))
    _until(lambda: cluster.copies() >= OPERATORS * NAMESPACES, pause=2)
    what = f"{OPERATORS} global operators in {NAMESPACES:,} namespaces"
    yield Row(f"{what}, a copy", 1000 * (time.monotonic() - started) / (OPERATORS * NAMESPACES), 250, "ms")
    started = time.monotonic()
    for number in range(SUBSCRIPTIONS):
        namespace = f"tenant-{number:05}"
        package, channel = ("tide", "stable") if number % 2 else ("beacon", "stable")
        found.apply(
            an_operator_group(namespace, targets=(namespace,)), a_subscription(package, namespace, channel=channel)
        )
    _until(lambda: _installed(cluster) >= SUBSCRIPTIONS, pause=2)
    found.until_it_rests()
    yield Row(
        f"{SUBSCRIPTIONS:,} Subscriptions in as many of them, each",
        (time.monotonic() - started) / SUBSCRIPTIONS,
        5,
        "s",
    )


def _installed(cluster: Cluster) -> int:
    subscriptions = cluster.found.cluster.list(SUBSCRIPTION)
    done = [one for one in subscriptions if (one.get("status") or {}).get("state") == "AtLatestKnown"]
    return len([one for one in done if one["metadata"]["namespace"] != HOME])


def _memory(cluster: Cluster) -> Iterator[Row]:
    ours = sum(resident(cluster.pid_of(name)) for name in ("watch", "worker"))
    yield Row("watcher and worker then", ours / 1e6, 256, "MB")
    stored = int(cluster.redis.info("memory")["used_memory"])
    yield Row("Redis then, its journal included", stored / 1e6, 200, "MB")


def _touched(cluster: Cluster) -> Row:
    """One annotation of a global operator's version."""
    version = CLUSTER_SERVICE_VERSION.ref("tide0.v1.0.0", HOME)
    patch: Manifest = {"metadata": {"annotations": {"touched": "yes"}}}
    runs = cluster.runs_after(lambda: cluster.found.cluster.merge(version, patch))
    return Row("writes after one annotation of a global operator changed", _writes(runs), 1, "writes")


def _new_namespace(cluster: Cluster) -> Iterator[Row]:
    took: list[float] = []

    def act() -> None:
        started = time.monotonic()
        cluster.found.apply(a_namespace("newcomer"))
        _until(lambda: cluster.copies("newcomer") >= OPERATORS)
        took.append(time.monotonic() - started)

    runs = cluster.runs_after(act)
    yield Row(f"a new namespace until it has {OPERATORS} copies", took[0], 5, "s")
    yield Row("writes for it, for each global operator", _writes(runs) / OPERATORS, 51 / 50, "writes")


def _new_version(cluster: Cluster) -> Iterator[Row]:
    """A version of a package that half of the tenants have, in a channel that none of them follows."""
    concerned = {f"tenant-{number:05}" for number in range(0, SUBSCRIPTIONS, 2)}

    def act() -> None:
        present, made = cluster.bundles / "beacon" / "1.1.0", cluster.bundles.parent / "1.2.0"
        for path in filter(Path.is_file, present.rglob("*")):
            target = made / path.relative_to(present)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = (
                path.read_text().replace("1.1.0", "1.2.0").replace("replaces: beacon.v1.0.0", "replaces: beacon.v1.1.0")
            )
            target.write_text(text)
        made.rename(present.with_name("1.2.0"))

    worker = cluster.pid_of("worker")
    before = seconds_of(worker)
    resolved = [run for run in cluster.runs_after(act) if run.step == RESOLVE]
    processor = 1000 * (seconds_of(worker) - before)
    namespaces = {Ref.parse(run.ref).name for run in resolved}
    yield Row(
        f"namespaces that a new version concerns ({len(concerned):,}) and were resolved",
        len(namespaces & concerned),
        len(concerned),
        "",
        is_at_least=True,
    )
    yield Row("others that were resolved then", len(namespaces - concerned), 0)
    yield Row("processor time of the worker then, for each of all these", processor / len(namespaces), 10, "ms")
    yield Row("resolving one of them, on the clock, p50", statistics.median(run.took_ms for run in resolved), 10, "ms")


def _watcher_restarted(cluster: Cluster) -> Iterator[Row]:
    """Namespaces that are made while the watcher starts get their copies, too."""
    away = [f"meanwhile-{number}" for number in range(WHILE_AWAY)]
    took: list[float] = []

    def act() -> None:
        os.kill(cluster.pid_of("watch"), signal.SIGKILL)
        started = time.monotonic()
        cluster.found.apply(*map(a_namespace, away))
        _until(lambda: all(cluster.copies(one) >= OPERATORS for one in away), pause=0.5)
        took.append(time.monotonic() - started)

    worker = cluster.pid_of("worker")
    before = seconds_of(worker)
    runs = cluster.runs_after(act)
    processor = seconds_of(worker) - before + seconds_of(cluster.pid_of("watch"))
    yield Row(f"{WHILE_AWAY} namespaces made while the watcher was away have their copies after", took[0], 60, "s")
    yield Row("processor time of watcher and worker then, until everything rests", processor, 60, "s")
    yield Row("runs then, for each namespace and Subscription", len(runs) / (NAMESPACES + SUBSCRIPTIONS), 20, "runs")


def _writes(runs: Sequence[Run]) -> int:
    return sum(write.did == "sent" for run in runs for write in writes_of(run))


def _until(holds: Callable[[], bool], pause: float = 0.1) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{holds} did not hold within {PATIENCE_SECONDS} s")
        time.sleep(pause)
