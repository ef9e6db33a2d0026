"""Workers, their parents and Redis die at any moment: no wake-up is lost, nothing runs twice at once.

`OLMF_CRASHES` says how often the worker is killed (20 here, 200 in `make conformance`).
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from redis import Redis

from eventing.events.job import Job, Lane
from eventing.local import redis_server
from eventing.local.redis_server import RedisServer
from eventing.workqueue import UNREACHABLE, WorkQueue, connect
from shared.config import Settings
from shared.kinds import Ref
from tests.eventing.worker.program import GROUP
from tests.eventing.worker.test_worker import a_worker
from tests.kit.redis import put_on_disk
from tests.kit.waiting import wait_for

pytestmark = pytest.mark.crash

NAMES = [f"object-{number}" for number in range(40)]
CRASHES = int(os.environ.get("OLMF_CRASHES", "20"))


def a_job(name: str) -> Job:
    return Job(f"{GROUP}/copy", Ref("v1", "ConfigMap", name, "ns"))


class World:
    """Objects that change, and the events that tell of it; to be closed."""

    def __init__(self, url: str) -> None:
        self.client: Redis = connect(url)
        # A killed run counts as a failure of its job. Here the job is innocent, so it must not be parked.
        self.queue = WorkQueue(self.client, Settings(max_failures=1000, lease_seconds=60))
        self._version = 0

    def change(self, names: list[str], lane: Lane = "direct") -> None:
        """The objects change, and each change is told."""
        self._version += 1
        for name in names:
            self.client.set(f"wanted:{name}", self._version)
        self.queue.add([replace(a_job(name), lane=lane) for name in names], f"event-{self._version}")

    def has_converged(self) -> bool:
        """Every object that is wanted has been seen as it is now, and told."""
        desired, seen, reported = (
            self.client.mget([f"{key}:{name}" for name in NAMES]) for key in ("wanted", "seen", "told")
        )
        return desired == seen == reported and self.queue.ls() == ()

    def child(self) -> int:
        """The process that runs steps."""
        return int(self.client.get("child") or b"nobody")  # pid 0 would be ourselves: `kill(0)` ends the whole group

    def tokens(self, name: str) -> list[int]:
        """In the order in which runs wrote."""
        return [int(token) for token in self.client.lrange(f"tokens:{name}", 0, -1)]


@pytest.fixture
def world(redis_url: str) -> Iterator[World]:
    world = World(redis_url)
    yield world
    world.client.close()


@pytest.fixture
def fragile(own_redis: RedisServer) -> Iterator[World]:
    """A world whose Redis the test may stop."""
    world = World(own_redis.url)
    yield world
    world.client.close()


def is_another_child(world: World, victim: int) -> bool:
    return world.child() != victim


def test_no_wake_up_is_lost_when_the_child_is_killed_at_any_instant(redis_url: str, world: World) -> None:
    rng = random.Random(20_26)
    with a_worker(redis_url, concurrency=4):
        for _ in range(CRASHES):
            victim = world.child()
            for _ in range(3):
                world.change(rng.sample(NAMES, 15))
                time.sleep(rng.uniform(0, 0.01))
            os.kill(victim, signal.SIGKILL)
            wait_for(partial(is_another_child, world, victim))
        wait_for(world.has_converged)

    for name in NAMES:
        assert all(earlier < later for earlier, later in pairwise(world.tokens(name))), name


def test_no_wake_up_is_lost_when_the_whole_worker_is_killed(redis_url: str, world: World) -> None:
    rng = random.Random(11)
    for _ in range(max(3, CRASHES // 5)):
        with a_worker(redis_url, concurrency=4) as process:
            world.change(rng.sample(NAMES, 30))
            time.sleep(rng.uniform(0, 0.02))
            process.send(signal.SIGKILL)

    with a_worker(redis_url):
        wait_for(world.has_converged)


def test_a_worker_that_slept_through_its_lease_neither_writes_nor_releases(redis_url: str, world: World) -> None:
    with a_worker(redis_url):
        world.change(["pause"])
        wait_for(lambda: world.client.llen("started") == 1)
        sleeper = world.child()
        os.kill(sleeper, signal.SIGSTOP)
        wait_for(lambda: "T (stopped)" in Path(f"/proc/{sleeper}/status").read_text())
        world.client.zadd("olmf:leases", {str(a_job("pause").ref): 1})
        world.client.set("go", 1)
        with a_worker(redis_url):
            wait_for(lambda: world.client.get("seen:pause") == b"1")
            (token,) = world.tokens("pause")
            os.kill(sleeper, signal.SIGCONT)
            world.change(NAMES)
            wait_for(world.has_converged)

    assert world.tokens("pause") == [token]


def test_work_goes_on_after_flushall_in_mid_flow(redis_url: str, world: World) -> None:
    with a_worker(redis_url) as process:
        for _ in range(10):
            world.change(NAMES)
            time.sleep(0.005)
            world.client.flushall()
        world.change(NAMES)  # what the audit does: it tells of every object again
        wait_for(world.has_converged)
        assert process.poll() is None


def test_work_goes_on_after_redis_was_killed_and_started_again(
    own_redis: RedisServer, fragile: World, tmp_path: Path
) -> None:
    world = fragile
    with a_worker(own_redis.url) as process:
        world.change(NAMES)
        wait_for(world.has_converged)
        world.change([*NAMES, "pause"])
        wait_for(lambda: world.client.llen("started") > len(NAMES))
        put_on_disk(world.client)
        os.kill(own_redis.pid, signal.SIGKILL)
        own_redis.stop()
        time.sleep(1.5)  # longer than clients are patient
        again = redis_server.start(tmp_path / "redis")
        try:
            world.client.set("go", 1)
            wait_for(world.has_converged)
            assert process.poll() is None
        finally:
            again.stop()


def test_adding_while_redis_is_away_is_an_error_that_reports_it(own_redis: RedisServer, fragile: World) -> None:
    own_redis.stop()

    with pytest.raises(UNREACHABLE):
        fragile.queue.add([a_job("one")], "event")
