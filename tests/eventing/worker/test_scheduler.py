"""The scheduler: due jobs, lost leases and the audit, without a worker."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from datetime import timedelta

import pytest
from redis.exceptions import ResponseError

from eventing.local.redis_server import RedisServer
from eventing.worker.scheduler import schedule
from eventing.workqueue import WorkQueue, connect
from shared.config import Settings
from tests.eventing.worker.test_worker import a_job
from tests.kit.waiting import wait_for


class Enough(Exception):
    """Ends the endless loop of a scheduler."""


def test_the_audit_rings_once_per_period(redis_url: str) -> None:
    rings: list[WorkQueue] = []

    def ring(queue: WorkQueue) -> None:
        rings.append(queue)
        if len(rings) == 3:
            raise Enough

    started = time.monotonic()
    with pytest.raises(Enough):
        schedule(Settings(redis_url=redis_url, audit_seconds=1), ring)

    assert time.monotonic() - started >= 1.9


def test_the_audit_does_not_wait_for_its_first_period(redis_url: str) -> None:
    def end(_: WorkQueue) -> None:
        raise Enough

    with pytest.raises(Enough):
        schedule(Settings(redis_url=redis_url, audit_seconds=10**6), end)


def test_a_job_that_becomes_due_is_lined_up(redis_url: str) -> None:
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings())
        client.set("olmf:turn:audit", 1)
        threading.Thread(target=_schedule, args=(redis_url,), daemon=True).start()

        queue.add([replace(a_job("one"), delay=timedelta(milliseconds=50))], "event")
        wait_for(lambda: sum(queue.depth().ready.values()) == 1)
        client.delete("olmf:turn:audit")  # the audit rings, and ends the thread
        wait_for(lambda: threading.active_count() == 1 or not _schedulers())


def test_a_redis_that_is_full_stops_the_scheduler_only_for_that_time(own_redis: RedisServer) -> None:
    with connect(own_redis.url) as client:
        client.config_set("maxmemory", 1)
        scheduler = threading.Thread(target=_schedule, args=(own_redis.url,), daemon=True)
        scheduler.start()
        wait_for(lambda: "errorstat_OOM" in client.info("errorstats"))
        client.config_set("maxmemory", 0)
        wait_for(lambda: client.exists("olmf:turn:audit") and not scheduler.is_alive())


def test_an_error_of_redis_that_does_not_pass_ends_the_scheduler(own_redis: RedisServer) -> None:
    with connect(own_redis.url) as client:
        client.set("olmf:delayed", "of another type")
        with pytest.raises(ResponseError, match="WRONGTYPE"):
            schedule(Settings(redis_url=own_redis.url), lambda _: None)


def _schedule(url: str) -> None:
    def end(_: WorkQueue) -> None:
        raise Enough

    with pytest.raises(Enough):
        schedule(Settings(redis_url=url), end)


def _schedulers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "_schedule" in thread.name]
