"""An endpoint that drains: its steps run in a worker process, and one of its threads waits for all."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import urllib3

from eventing.endpoint.draining import Waiting
from eventing.events.cloudevents import to_request
from eventing.events.event import Event
from eventing.events.job import Job
from eventing.local.processes.parent_watch import WATCH_PARENT
from eventing.local.state import is_alive
from eventing.wiring.endpoint import drain
from eventing.workqueue import WorkQueue, connect
from shared import kinds, names
from shared.config import Settings
from shared.kinds import Ref
from tests.eventing.worker.program import GROUP
from tests.kit.endpoint import running_endpoint
from tests.kit.waiting import PATIENCE_SECONDS, wait_for

THREADS = 8


def in_threads(work: Callable[[int], object]) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Work:
    """Jobs that are added from outside and done one at a time by whoever waits."""

    def __init__(self) -> None:
        self.left = 0
        self.waiting = 0
        self.most = 0
        self.lock = threading.Lock()

    def add(self) -> None:
        with self.lock:
            self.left += 1

    def is_left(self) -> bool:
        with self.lock:
            self.waiting += 1
            self.most = max(self.most, self.waiting)
        time.sleep(0.002)
        with self.lock:
            self.waiting -= 1
            self.left = max(0, self.left - 1)
            return bool(self.left)


def test_one_thread_waits_for_all_and_leaves_nothing() -> None:
    work = Work()
    waiting = Waiting(work.is_left, 30)

    def requests(_: int) -> None:
        for _ in range(20):
            work.add()
            waiting()

    in_threads(requests)
    assert (work.most, work.left) == (1, 0)


def test_who_comes_while_another_waits_is_looked_after() -> None:
    """The last look before the end is later than the last request, even when that came after an answer `nothing`."""
    looks = 0

    def is_left() -> bool:
        nonlocal looks
        looks += 1
        if looks == 1:
            waiting()
        return False

    waiting = Waiting(is_left, 30)
    waiting()
    assert looks == 2


def test_nobody_waits_beyond_the_limit_and_the_next_waits_again() -> None:
    waiting = Waiting(lambda: True, 0.05)
    begun = time.monotonic()
    waiting()
    waiting()
    assert time.monotonic() - begun >= 0.1


def test_an_error_of_the_queue_does_not_keep_others_from_waiting() -> None:
    answers = iter((True, False))

    def is_left() -> bool:
        if next(answers):
            raise ConnectionError
        return False

    waiting = Waiting(is_left, 30)
    with pytest.raises(ConnectionError):
        waiting()
    waiting()
    assert next(answers, None) is None


def a_job(name: str) -> Job:
    return Job(f"{GROUP}/copy", Ref("v1", "ConfigMap", name, "ns"))


def parent_of(queue: WorkQueue) -> int:
    """The process of the worker; its child runs the steps."""
    return int(wait_for(lambda: queue.client.get("parent")) or 0)


@contextmanager
def draining(url: str, seconds: int) -> Iterator[tuple[WorkQueue, Callable[[], None]]]:
    """The queue of the test worker, and the drain of an endpoint with that worker beside it."""
    settings = Settings(redis_url=url, steps=(GROUP,), max_failures=3)
    command = (sys.executable, "-m", "tests.eventing.worker.program", url, str(seconds))
    with connect(url) as client, drain(settings, command, {WATCH_PARENT: "1"}) as drained:
        yield WorkQueue(client, settings), drained


def test_eight_requests_at_once_share_one_worker(redis_url: str) -> None:
    with draining(redis_url, 30) as (queue, drained):
        names_ = [f"map-{number}-{turn}" for number in range(THREADS) for turn in range(5)]
        queue.client.mset({f"wanted:{name}": "yes" for name in names_})

        parent_of(queue)

        def requests(number: int) -> None:
            for turn in range(5):
                queue.add([a_job(f"map-{number}-{turn}")], "event")
                drained()

        in_threads(requests)
        assert [queue.client.get(f"seen:{name}") for name in names_] == [b"yes"] * len(names_)
        assert (queue.depth().running, queue.dead()) == (0, ())
        assert {ran.result: ran.count for ran in queue.ran() if ran.step == f"{GROUP}/copy"} == {"done": len(names_)}


def test_a_step_that_hangs_ends_at_its_limit(redis_url: str) -> None:
    with draining(redis_url, 1) as (queue, drained):
        queue.client.set("wanted:good", "yes")
        queue.add([a_job("slow-1")], "event")
        wait_for(lambda: queue.client.llen("started"), "the start of the step that hangs")
        queue.add([a_job("good")], "event")
        wait_for(lambda: drained() or queue.client.get("seen:good"), "the step behind it")
        assert "ended after 1 s: its time limit" in {one.error for one in (*queue.ls(), *queue.dead())}


def test_a_worker_that_dies_is_started_again(redis_url: str) -> None:
    with draining(redis_url, 30) as (queue, drained):
        pid = parent_of(queue)
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not is_alive(pid))
        queue.client.set("wanted:one", "yes")
        queue.add([a_job("one")], "event")
        drained()
        assert queue.client.get("seen:one") == b"yes", "who waits has it started"
        pid = parent_of(queue)
    assert not is_alive(pid), "it ends with the endpoint"


def test_the_program_answers_when_the_jobs_have_run(redis_url: str, tmp_path: Path) -> None:
    steps = {"OLMF_STEPS": "operator_group"}
    with running_endpoint(redis_url, tmp_path, "--drain", environ=steps) as endpoint, connect(redis_url) as client:
        event = Event("1", names.ADDED, "/test", kinds.OPERATOR_GROUP.ref("group", "team-a"))
        headers, body = to_request(event)
        answer = urllib3.request(
            "POST", endpoint.address, headers=headers, body=body, timeout=PATIENCE_SECONDS, retries=False
        )
        assert (answer.status, answer.data) == (204, b"")
        ran = WorkQueue(client, Settings()).ran()
        assert {one.step.partition("/")[0] for one in ran} == {"operator_group"}
