"""A Redis that is full: the queue pauses and says so, nothing is lost, and no run is blamed for it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import urllib3
from redis import Redis

from eventing.events.cloudevents import to_request
from eventing.events.event import Event
from eventing.local.redis_server import RedisServer
from eventing.worker.drainer import Drainer
from eventing.workqueue import REFUSED, Claim, Loss, WorkQueue, connect, is_paused
from eventing.workqueue.run_result import RunResult
from shared import names
from shared.config import Settings
from shared.kinds import SUBSCRIPTION
from tests.eventing.worker.program import GROUP
from tests.eventing.worker.test_worker import a_job, a_worker, has_seen
from tests.kit.endpoint import running_endpoint
from tests.kit.waiting import wait_for

SMALL_BYTES = 4 * 1024 * 1024


def fill(client: Redis) -> None:
    """Use up a small limit of memory; to delete the key `filler` makes room."""
    client.config_set("maxmemory-policy", "noeviction")
    client.set("filler", os.urandom(SMALL_BYTES))
    client.config_set("maxmemory", SMALL_BYTES)


def refusals(client: Redis) -> int:
    """How often the server has refused something because it is full."""
    return int(client.info("errorstats").get("errorstat_OOM", {}).get("count", 0))


def make_room_after(client: Redis, times: int, also: Callable[[], object] = lambda: None) -> threading.Thread:
    """Make room, in a thread, when the server has refused so often."""

    def room() -> None:
        wait_for(lambda: refusals(client) >= times, "a refusal")
        also()
        client.delete("filler")

    thread = threading.Thread(target=room, daemon=True)
    thread.start()
    return thread


def test_whoever_adds_a_job_is_reported(own_redis: RedisServer) -> None:
    with connect(own_redis.url) as client:
        fill(client)
        with pytest.raises(REFUSED) as error:
            WorkQueue(client, Settings()).add([a_job("one")], "event")
        assert is_paused(error.value)


def test_whoever_sends_an_event_shall_come_again(own_redis: RedisServer, tmp_path: Path) -> None:
    headers, body = to_request(Event("1", names.RESYNC_REQUESTED, "/test", SUBSCRIPTION.ref("etcd", "olm")))
    trusting = {"OLMF_ENDPOINT_TRUSTS_NETWORK": "true"}
    with connect(own_redis.url) as client, running_endpoint(own_redis.url, tmp_path, environ=trusting) as endpoint:

        def sent() -> urllib3.BaseHTTPResponse:
            return urllib3.request("POST", endpoint.address, headers=headers, body=body, retries=False)

        fill(client)
        answer = sent()
        assert (answer.status, answer.headers.get("retry-after")) == (503, "1")
        assert "Redis accepts no changes" in answer.data.decode()
        client.delete("filler")
        wait_for(lambda: sent().status == 204)


def test_a_run_that_ends_meanwhile_is_kept_until_there_is_room(own_redis: RedisServer) -> None:
    with connect(own_redis.url) as client:
        queue = WorkQueue(client, Settings(max_failures=3), worker="me", is_renewing=True)
        queue.add([a_job("one")], "event")
        reported: list[tuple[str, int]] = []
        rooms: list[threading.Thread] = []

        def run(_: Claim) -> RunResult:
            fill(client)
            rooms.append(make_room_after(client, 2, note))
            return RunResult("run-1", b"{}", (a_job("other"),))

        def note() -> None:
            queue.sweep()  # which renews the lease all the same
            reported.extend((job.state, job.attempts) for job in queue.ls())

        Drainer(queue, (GROUP,), run).drain(keys=1, linger=0)
        rooms.pop().join()

        assert reported == [("running", 0)]
        assert [(job.ref.name, job.state, job.causes) for job in queue.ls()] == [("other", "ready", ("run-1",))]
        assert [(ran.result, ran.count) for ran in queue.ran()] == [("done", 1)]


class Full(WorkQueue):
    """A queue that stays full, and tells the drainer to stop when it is asked."""

    drainer: Drainer

    def claims(self, groups: Sequence[str], *, runs_per_namespace: int = 0, most: int = 1) -> tuple[Claim, ...]:
        self.drainer.stop()
        return super().claims(groups)


def test_a_drainer_that_waits_for_room_ends_on_request(own_redis: RedisServer) -> None:
    with connect(own_redis.url) as client:
        queue = Full(client, Settings())
        queue.add([a_job("one")], "event")
        fill(client)
        queue.drainer = Drainer(queue, (GROUP,), lambda _: RunResult("run-1", b"{}"))
        assert queue.drainer.drain() == 0
        assert [job.state for job in queue.ls()] == ["ready"]


def test_a_run_that_ends_on_request_waits_for_room_only_so_long(own_redis: RedisServer) -> None:
    with connect(own_redis.url) as client:
        queue = WorkQueue(client, Settings(), worker="me")
        queue.add([a_job("one")], "event")

        def run(_: Claim) -> RunResult:
            fill(client)
            drainer.stop()
            return RunResult("run-1", b"{}")

        drainer = Drainer(queue, (GROUP,), run, finish_seconds=0.1)
        with pytest.raises(REFUSED) as error:
            drainer.drain()
        assert is_paused(error.value)
        assert refusals(client) == 2, "it tried again once, after a second"
        client.delete("filler")
        queue.sweep(lost_worker="me", loss=Loss("it had to stop"))
        assert [(job.state, job.error) for job in queue.ls()] == [("delayed", "it had to stop")], "it runs again"


def test_a_worker_goes_on_when_there_is_room_again(own_redis: RedisServer) -> None:
    with connect(own_redis.url) as client, a_worker(own_redis.url):
        queue = WorkQueue(client, Settings(max_failures=3))
        client.mset({"wanted:pause": "yes", "later": 1})
        queue.add([a_job("pause")], "event")
        wait_for(lambda: client.llen("started"))
        fill(client)
        client.rename("later", "go")  # a full server still does that
        wait_for(lambda: refusals(client) >= 3, "what the step writes, and twice the end of its run")
        client.delete("filler")
        wait_for(has_seen(client, "pause"))
        assert queue.dead() == ()


def test_a_run_that_could_not_write_meanwhile_is_no_bug(own_redis: RedisServer) -> None:
    with connect(own_redis.url) as client:
        queue = WorkQueue(client, Settings(max_failures=3))
        queue.add([a_job("one")], "event")
        rooms: list[threading.Thread] = []

        def run(claim: Claim) -> RunResult:
            fill(client)
            rooms.append(make_room_after(client, 1))
            queue.lease_left(claim, [a_job("other")])
            raise AssertionError("it was held")

        Drainer(queue, (GROUP,), run).drain(keys=1, linger=0)
        rooms.pop().join()
        (job,) = queue.ls()
        assert (job.state, job.attempts) == ("delayed", 1)
        assert "Redis accepts no changes" in job.error
        assert queue.ran()[0].result == "retry"
