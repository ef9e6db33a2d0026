"""The worker of the long lane as a process: its own time limit, its own queue in RQ, and death at any instant."""

from __future__ import annotations

import os
import random
import signal
import time
from functools import partial
from itertools import pairwise

import pytest
from redis import Redis
from rq import Queue, Worker
from rq.job import Job as RqJob

from eventing.events.job import Job
from eventing.workqueue import WorkQueue
from eventing.workqueue.rq_jobs import Payload
from eventing.workqueue.rq_long import LONG_QUEUE, name_of
from tests.eventing.worker.test_crashes import CRASHES, NAMES, World, world
from tests.eventing.worker.test_worker import a_job, a_worker, client, has_seen, queue
from tests.kit.waiting import PATIENCE_SECONDS, wait_for

__all__ = ["client", "queue", "world"]  # fixtures


def a_long(name: str) -> Job:
    return a_job(name, "long")


def the_rq_job(client: Redis, name: str) -> RqJob:
    (key,) = list(client.scan_iter(f"rq:job:{name_of(a_long(name), 0)[:-1]}*"))
    return RqJob.fetch(key.decode().removeprefix("rq:job:"), connection=client, serializer=Payload)


def test_it_runs_what_is_enqueued_and_nothing_stays_in_rq(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    client.set("wanted:one", "yes")
    with a_worker(redis_url, "30", "long"):
        queue.add([a_long("one")], "event")
        wait_for(has_seen(client, "one"))
        wait_for(lambda: not list(client.scan_iter("rq:job:*")))

    assert [job.step for job in queue.ls()] == ["test/tell"]  # of the direct lane


def test_an_rq_job_that_is_doubled_leaves_the_run_alone(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    client.set("wanted:pause", "yes")
    with a_worker(redis_url, "30", "long"), a_worker(redis_url, "30", "long"):
        queue.add([a_long("pause")], "event")
        wait_for(lambda: client.llen("started") and client.scard(f"rq:workers:{LONG_QUEUE}") == 2)
        workers = client.smembers(f"rq:workers:{LONG_QUEUE}")
        client.rpush(f"rq:queue:{LONG_QUEUE}", the_rq_job(client, "pause").id)
        wait_for(lambda: not client.llen(f"rq:queue:{LONG_QUEUE}"))
        client.set("go", 1)
        wait_for(has_seen(client, "pause"))
        wait_for(lambda: not list(client.scan_iter("rq:job:test-*")))
        assert client.smembers(f"rq:workers:{LONG_QUEUE}") == workers, "a worker died of it"


def test_a_slow_run_holds_no_worker_of_the_direct_lane(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    client.set("wanted:one", "yes")
    with a_worker(redis_url, "30", "long"), a_worker(redis_url):
        queue.add([a_long("slow"), a_long("slow-too")], "event")
        wait_for(lambda: client.llen("started"))
        queue.add([a_job("one")], "event")
        wait_for(has_seen(client, "one"))


def test_rq_shows_the_run_with_its_progress(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    with a_worker(redis_url, "30", "long"):
        queue.add([a_long("pause")], "event")
        wait_for(lambda: client.llen("started"))
        wait_for(lambda: the_rq_job(client, "pause").meta)
        shown = the_rq_job(client, "pause")
        assert shown.get_status() == "started"
        assert shown.meta["limit_seconds"] == 30
        (worker,) = Worker.all(queue=Queue(LONG_QUEUE, connection=client))
        assert worker.get_current_job_id() == shown.id
        client.set("go", 1)


def test_a_run_over_its_time_is_ended_and_its_next_attempt_is_reported(
    redis_url: str, client: Redis, queue: WorkQueue
) -> None:
    with a_worker(redis_url, "1", "long"):
        queue.add([a_long("slow")], "event")
        wait_for(lambda: client.get("ended:slow") == b"ended after 1 s: its time limit")


def test_canceling_in_rq_ends_the_run(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    client.set("wanted:good", "yes")
    with a_worker(redis_url, "30", "long"):
        queue.add([a_long("slow")], "event")
        wait_for(lambda: client.llen("started"))
        the_rq_job(client, "slow").cancel()
        wait_for(queue.dead)
        queue.add([a_long("good")], "event")
        wait_for(has_seen(client, "good"))

    assert [(dead.ref.name, dead.error) for dead in queue.dead()] == [("slow", "canceled in RQ")]


def test_a_dead_letter_is_released_with_rq(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    queue.add([a_long("bug")], "event")
    failed = Queue("olmf", connection=client).failed_job_registry
    with a_worker(redis_url, "30", "long"):
        (name,) = wait_for(failed.get_job_ids)
        before = client.llen("started")
        failed.requeue(name)
        with a_worker(redis_url):  # a direct worker that is idle already would look at RQ's queue a minute later
            wait_for(lambda: client.llen("started") > before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_worker_stops_on_request(redis_url: str, number: int) -> None:
    with a_worker(redis_url, "30", "long") as process:
        process.send(number)
        assert process.wait(PATIENCE_SECONDS) == 0


def test_a_busy_worker_ends_its_run_before_it_stops(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    client.set("wanted:pause", "yes")
    with a_worker(redis_url, "30", "long") as process:
        queue.add([a_long("pause")], "event")
        wait_for(lambda: client.llen("started"))
        process.send(signal.SIGTERM)
        client.set("go", 1)
        assert process.wait(PATIENCE_SECONDS) == 0

    assert has_seen(client, "pause")()


@pytest.mark.crash
def test_no_wake_up_is_lost_when_the_child_is_killed_at_any_instant(redis_url: str, world: World) -> None:
    rng = random.Random(16)
    with a_worker(redis_url, "30", "long"), a_worker(redis_url):
        world.client.delete("child")
        world.change(NAMES[:1], "long")
        for _ in range(max(3, CRASHES // 4)):
            victims = workers_of_the_lane(world.client)
            for _ in range(3):
                world.change(rng.sample(NAMES, 5), "long")
                time.sleep(rng.uniform(0, 0.05))
            for victim in victims:
                os.kill(victim, signal.SIGKILL)
            wait_for(partial(has_others, world.client, victims))
        wait_for(world.has_converged, seconds=4 * PATIENCE_SECONDS)

    for name in NAMES:
        assert all(earlier < later for earlier, later in pairwise(world.tokens(name))), name


def workers_of_the_lane(client: Redis) -> set[int]:
    """Their processes."""
    names = wait_for(lambda: list(client.sscan_iter(f"rq:workers:{LONG_QUEUE}")))
    return {int(name.rpartition(b"-")[2]) for name in names}


def has_others(client: Redis, victims: set[int]) -> bool:
    present = workers_of_the_lane(client)
    return bool(present) and not present & victims
