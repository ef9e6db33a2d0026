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


def test_the_audit_enqueues_once_per_period(redis_url: str) -> None:
    enqueues: list[WorkQueue] = []

    def request(queue: WorkQueue, _: str) -> None:
        enqueues.append(queue)
        if len(enqueues) == 3:
            raise Enough

    started = time.monotonic()
    with pytest.raises(Enough):
        schedule(Settings(redis_url=redis_url, audit_seconds=1), request)

    assert time.monotonic() - started >= 1.9


def test_the_audit_does_not_wait_for_its_first_period(redis_url: str) -> None:
    def end(_: WorkQueue, __: str) -> None:
        raise Enough

    with pytest.raises(Enough):
        schedule(Settings(redis_url=redis_url, audit_seconds=10**6), end)


def test_a_job_that_becomes_due_is_lined_up(redis_url: str) -> None:
    with connect(redis_url) as client:
        queue = WorkQueue(client, Settings())
        is_over = threading.Event()
        scheduler = threading.Thread(target=_schedule, args=(redis_url, is_over), daemon=True)
        scheduler.start()

        queue.add([replace(a_job("one"), delay=timedelta(milliseconds=50))], "event")
        wait_for(lambda: sum(queue.depth().ready.values()) == 1)
        is_over.set()  # the next audit ends the thread
        wait_for(lambda: not scheduler.is_alive())


def test_a_redis_that_is_full_stops_the_scheduler_only_for_that_time(own_redis: RedisServer) -> None:
    with connect(own_redis.url) as client:
        client.config_set("maxmemory", 1)
        scheduler = threading.Thread(target=_schedule, args=(own_redis.url,), daemon=True)
        scheduler.start()
        wait_for(lambda: "errorstat_OOM" in client.info("errorstats"))
        client.config_set("maxmemory", 0)
        wait_for(lambda: not scheduler.is_alive())
        assert client.keys("olmf:turn:audit-*")


def test_an_error_of_redis_that_does_not_pass_ends_the_scheduler(own_redis: RedisServer) -> None:
    with connect(own_redis.url) as client:
        client.set("olmf:delayed", "of another type")
        with pytest.raises(ResponseError, match="WRONGTYPE"):
            schedule(Settings(redis_url=own_redis.url), lambda *_: None)


def _schedule(url: str, is_over: threading.Event | None = None) -> None:
    """Until an audit, or until the first one after `is_over`."""

    def end(_: WorkQueue, __: str) -> None:
        if is_over is None or is_over.is_set():
            raise Enough

    with pytest.raises(Enough):
        schedule(Settings(redis_url=url, audit_seconds=1), end)
