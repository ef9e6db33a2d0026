"""How often a run waits for Redis, from the claim of its job to that of the next one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from eventing.events.job import Job
from eventing.journal import RedisChanges
from eventing.routes import by_subject
from eventing.runner import Runner, Steps
from eventing.workqueue import Addition, Claim, Client, WorkQueue, connect
from shared import names
from shared.adapters.kube import CachedClient, SystemClock
from shared.adapters.kube import connect as connect_cluster
from shared.config import Settings
from shared.kinds import CACHED, CONFIG_MAP, HIGH_CARDINALITY
from shared.ports import Cluster
from tests.eventing.runner.test_run import ROUTES
from tests.kit.sandbox import running_sandbox

GROUP, STEP = "demo", "demo/join_maps"


def counting(client: Client) -> list[bytes]:
    """What this client sends from now on, each of which it waits for once."""
    sent: list[bytes] = []
    pool = client.connection_pool
    base: Any = pool.connection_class

    class Counting(base):  # type: ignore[misc]  # whichever the address asks for
        def send_packed_command(self, command: Any, check_health: bool = True) -> None:
            sent.append(b"".join(command) if isinstance(command, list) else command)
            super().send_packed_command(command, check_health)

    pool.disconnect()
    pool.reset()
    pool.connection_class = Counting
    client.ping()  # what a new connection sends once
    sent.clear()
    return sent


@dataclass(frozen=True)
class Rig:
    """A runner on a real queue and a sandbox, and what it sends to Redis."""

    queue: WorkQueue
    runner: Runner
    sent: list[bytes]

    def run(self, claim: Claim) -> Claim | None:
        """Run the claim; returns the next one."""
        result = self.runner.run(claim, partial(self.queue.lease_left, claim), partial(self.queue.may_go_on, claim))
        assert not result.failure, result.message
        is_ended, following = self.queue.finish_and_claim(claim, result, (GROUP,), runs_per_namespace=1)
        assert is_ended
        return following


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with running_sandbox(tmp_path_factory.mktemp("sandbox")) as path:
        yield path


def a_rig(client: Client, kubeconfig: Path, worker: str) -> Rig:
    """Its runs take no time: one that writes for longer than its time slice would ask whether it may go on."""
    changes = RedisChanges(client, worker)
    cluster = CachedClient(connect_cluster(str(kubeconfig)), changes, CACHED, HIGH_CARDINALITY)
    steps = Steps("tests.eventing.runner.tiny")
    routes = by_subject(ROUTES)
    runner = Runner({Cluster: cluster}, cluster, SystemClock(), routes=routes, steps=steps, seconds=lambda: 0.0)
    for name in ("one", "other"):
        meta = {"name": name, "namespace": "default", "labels": {names.MANAGED: "true"}}
        cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
    return Rig(WorkQueue(client, Settings(), worker=worker), runner, counting(client))


@pytest.fixture
def rig(redis_url: str, kubeconfig: Path) -> Iterator[Rig]:
    with connect(redis_url) as client:
        yield a_rig(client, kubeconfig, "me")


def a_job() -> Job:
    return Job(STEP, CONFIG_MAP.ref("one", "default"))


def trips(rig: Rig, job: Job) -> int:
    """How often the run of the job waits, with the claim of the next one."""
    rig.queue.add([job], "event")
    claim = rig.queue.claim((GROUP,))
    assert claim
    rig.sent.clear()
    following = rig.run(claim)
    found = len(rig.sent)
    while following:
        following = rig.run(following)
    return found


def test_a_run_with_reads_writes_and_events_waits_for_redis_twice(rig: Rig) -> None:
    """Before its first write, and at its end, which claims the next one.

    Each thing by itself, that would be 14 times: for each of 8 reads, twice for each of 2 writes, for claim and end.
    """
    learning = [trips(rig, a_job()) for _ in range(3)]
    assert max(learning) <= 5, "once for all that it reads; and two scripts are sent whole"
    assert [trips(rig, a_job()) for _ in range(3)] == [2, 2, 2]


def test_a_run_that_only_reads_waits_for_redis_once(rig: Rig) -> None:
    job = Job("demo/look_once", CONFIG_MAP.ref("absent", "default"))
    assert [trips(rig, job) for _ in range(4)][2:] == [1, 1]


def test_a_process_that_is_new_knows_what_the_runs_of_others_read(rig: Rig, redis_url: str, kubeconfig: Path) -> None:
    for _ in range(3):
        trips(rig, a_job())
    with connect(redis_url) as client:
        assert trips(a_rig(client, kubeconfig, "new"), a_job()) == 2


def test_a_run_after_redis_was_emptied_asks_again(rig: Rig) -> None:
    for _ in range(3):
        trips(rig, a_job())
    rig.queue.client.flushall()
    assert max(trips(rig, a_job()) for _ in range(3)) <= 4, "the scripts are sent again, too"


def test_a_batch_of_events_waits_for_redis_once(redis_url: str) -> None:
    """It waited once for each event."""
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings())
        queue.add([a_job()], "the script is known now")
        sent = counting(client)
        names = [f"map-{number}" for number in range(20)]
        additions = [Addition((Job(STEP, CONFIG_MAP.ref(name, "default")),), f"event-{name}") for name in names]
        assert queue.add_each(additions) == len(names)
        assert len(sent) == 1
        assert {job.ref.name: job.causes for job in queue.ls() if job.ref.name in names} == {
            name: (f"event-{name}",) for name in names
        }
