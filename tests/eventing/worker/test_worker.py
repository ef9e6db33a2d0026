"""The worker as a process: ready soon, quick, stopped by signals, and stronger than its steps."""

from __future__ import annotations

import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest
from redis import Redis
from rq import Callback, Queue, Worker
from rq.job import Job as RqJob
from rq.serializers import JSONSerializer
from rq.suspension import resume, suspend

from eventing.events.job import Job, Lane
from eventing.worker.child import STACK_BYTES
from eventing.worker.drainer import Drainer
from eventing.workqueue import Claim, WorkQueue, connect
from eventing.workqueue.rq_jobs import RQ_QUEUE, Payload
from eventing.workqueue.run_result import RunResult
from shared.config import SettingError, Settings
from shared.kinds import Ref
from tests.eventing.worker.program import GROUP
from tests.kit.verbs import Started
from tests.kit.waiting import PATIENCE_SECONDS, wait_for


def a_job(name: str, lane: Lane = "direct", namespace: str = "ns") -> Job:
    return Job(f"{GROUP}/copy", Ref("v1", "ConfigMap", name, namespace), lane)


@contextmanager
def a_worker(url: str, *arguments: str, concurrency: int = 1) -> Iterator[Started]:
    """A worker that is ready; it is killed in the end if it is still there."""
    environ = {**os.environ, "CONCURRENCY": str(concurrency)}
    ours, theirs = os.pipe()
    with open(ours, "rb") as output, open(os.devnull) as nothing:  # noqa: PTH123  # a number, and no file
        streams = nothing.fileno(), theirs, sys.stderr.fileno()
        with Started([url, *arguments], streams, environ, program="tests.eventing.worker.program") as process:
            os.close(theirs)
            assert output.readline() == b"ready\n"
            try:
                yield process
            finally:
                process.send(signal.SIGKILL)
                output.read()  # its child has the same output, and ends a moment later


@pytest.fixture
def client(redis_url: str) -> Iterator[Redis]:
    with connect(redis_url) as client:
        yield client


@pytest.fixture
def queue(client: Redis) -> WorkQueue:
    return WorkQueue(client, Settings(max_failures=3))


def has_seen(client: Redis, name: str, value: bytes = b"yes") -> Callable[[], bool]:
    return lambda: client.get(f"seen:{name}") == value


def test_a_worker_runs_what_is_enqueued(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    client.set("wanted:one", "yes")
    with a_worker(redis_url):
        queue.add([a_job("one")], "event")
        wait_for(has_seen(client, "one"))


def test_a_worker_runs_what_was_enqueued_before_it_started(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    client.set("wanted:one", "yes")
    queue.add([a_job("one")], "event")
    with a_worker(redis_url):
        wait_for(has_seen(client, "one"))


def test_a_worker_runs_what_becomes_due(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    client.set("wanted:one", "yes")
    with a_worker(redis_url):
        queue.add([replace(a_job("one"), delay=timedelta(milliseconds=150))], "event")
        wait_for(has_seen(client, "one"))


def test_an_error_of_redis_that_does_not_pass_ends_the_child(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    """Not only its log tells: the worker is not ready until Redis takes the sweep again."""
    client.set("wanted:one", "yes")
    with a_worker(redis_url):
        child = int(client.get("child") or 0)
        client.set("olmf:delayed", "of another type")
        wait_for(lambda: not Path(f"/proc/{child}").exists(), "the end of the child")
        client.delete("olmf:delayed")
        queue.add([a_job("one")], "event")
        wait_for(has_seen(client, "one"))
        assert int(client.get("child") or 0) != child


def test_several_workers_share_the_work(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    with a_worker(redis_url), a_worker(redis_url):
        queue.add([a_job("pause-1"), a_job("pause-2")], "event")
        wait_for(lambda: {output.split()[0] for output in client.lrange("started", 0, -1)} == {b"pause-1", b"pause-2"})


def started(client: Redis) -> list[bytes]:
    """The names of the objects whose runs have begun, in order."""
    return [output.split()[0] for output in client.lrange("started", 0, -1) if isinstance(output, bytes)]


def test_a_worker_runs_jobs_of_several_namespaces_at_once(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    jobs = [a_job(f"pause-{number}", namespace=f"ns-{number}") for number in range(4)]
    with a_worker(redis_url, concurrency=3):
        queue.add(jobs, "event")
        wait_for(lambda: len(started(client)) == 3)
        assert queue.depth().running == 3
        client.set("go", 1)
        wait_for(lambda: len(started(client)) == 4)


def test_a_worker_runs_the_jobs_of_a_namespace_one_after_the_other(
    redis_url: str, client: Redis, queue: WorkQueue
) -> None:
    for name in ("pause", "next", "other"):
        client.set(f"wanted:{name}", "yes")
    with a_worker(redis_url, concurrency=3):
        queue.add([a_job("pause"), a_job("next"), a_job("other", namespace="elsewhere")], "event")
        wait_for(lambda: len(started(client)) == 2)
        assert set(started(client)) == {b"pause", b"other"}
        client.set("go", 1)
        wait_for(has_seen(client, "next"))


def test_runs_that_take_all_memory_are_no_failure_of_those_beside_them(
    redis_url: str, client: Redis, queue: WorkQueue
) -> None:
    """Whoever gets no more memory need not be the one who took it: nobody is blamed until a run is ended alone."""
    with a_worker(redis_url, concurrency=3):
        for turn in (1, 2):
            client.set("wanted:large", turn)
            queue.add([a_job("large", namespace="innocent")], f"innocent-{turn}")
            wait_for(lambda turn=turn: started(client).count(b"large") >= turn)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
            queue.add([a_job(f"hungry-{turn}", namespace="guilty")], f"guilty-{turn}")
            wait_for(has_seen(client, "large", b"%d" % turn))
            assert client.get("failed:large") is None
        failed = wait_for(lambda: [job for job in (*queue.ls(), *queue.dead()) if job.attempts])

    assert {job.ref.name for job in failed} <= {"hungry-1", "hungry-2"}
    assert {job.error for job in failed} == {"ended: it needed more than 256 MiB"}
    assert 2 <= started(client).count(b"large") <= 4, "it ran beside one of them at most once each time, then alone"


def test_no_thread_of_a_worker_has_a_stack_that_it_does_not_need(redis_url: str) -> None:
    """Stacks count towards the memory of the process, used or not: those of seven threads were a seventh of it."""
    with a_worker(redis_url, concurrency=3) as process:
        [child] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        sizes = Path(f"/proc/{child}/smaps").read_text()
    usual, _ = resource.getrlimit(resource.RLIMIT_STACK)
    assert re.findall(rf"^Size: +{STACK_BYTES // 1024} kB", sizes, re.MULTILINE)
    assert not re.findall(rf"^Size: +{usual // 1024} kB", sizes, re.MULTILINE)


def test_a_busy_worker_with_several_runs_ends_them_before_it_stops(
    redis_url: str, client: Redis, queue: WorkQueue
) -> None:
    jobs = [a_job(f"pause-{number}", namespace=f"ns-{number}") for number in range(3)]
    client.mset({f"wanted:{job.ref.name}": "yes" for job in jobs})
    with a_worker(redis_url, concurrency=3) as process:
        queue.add(jobs, "event")
        wait_for(lambda: len(started(client)) == 3)
        process.send(signal.SIGTERM)
        wait_for(lambda: client.exists("stopping"))
        client.set("go", 1)
        assert process.wait(PATIENCE_SECONDS) == 0

    assert all(has_seen(client, job.ref.name)() for job in jobs)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_worker_stops_on_request(redis_url: str, number: int) -> None:
    with a_worker(redis_url) as process:
        process.send(number)
        assert process.wait(PATIENCE_SECONDS) == 0


def test_a_busy_worker_ends_its_run_before_it_stops(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    client.set("wanted:pause", "yes")
    with a_worker(redis_url) as process:
        queue.add([a_job("pause")], "event")
        wait_for(lambda: client.llen("started"))
        process.send(signal.SIGTERM)
        wait_for(lambda: client.exists("stopping"))
        client.set("go", 1)
        assert process.wait(PATIENCE_SECONDS) == 0

    assert has_seen(client, "pause")()
    assert [job.step for job in queue.ls()] == ["test/tell"]  # enqueued by the run that ended, for the next worker


def test_a_run_over_its_time_is_ended_and_tried_again(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    with a_worker(redis_url, "1"):
        queue.add([a_job("slow")], "event")
        (job,) = wait_for(lambda: [job for job in queue.ls() if job.attempts])
        wait_for(lambda: client.llen("started") >= 2)

    assert job.error == "ended after 1 s: its time limit"


def test_a_run_that_is_always_over_its_time_is_parked_while_others_go_on(
    redis_url: str, client: Redis, queue: WorkQueue
) -> None:
    client.set("wanted:good", "yes")
    with a_worker(redis_url, "1"):
        queue.add([a_job("slow")], "event")
        wait_for(queue.dead)
        queue.add([a_job("good")], "event")
        wait_for(has_seen(client, "good"))

    assert [dead.attempts for dead in queue.dead()] == [3]


@pytest.mark.parametrize("lane", ["direct", "long"])
def test_a_run_that_needs_too_much_memory_dies_alone_with_a_sentence(
    redis_url: str, client: Redis, queue: WorkQueue, lane: Literal["direct", "long"]
) -> None:
    client.set("wanted:good", "yes")
    with a_worker(redis_url, "30", lane) as process:
        queue.add([a_job("hungry", lane), a_job("good", lane)], "event")
        wait_for(queue.dead)
        wait_for(has_seen(client, "good"))
        assert process.poll() is None

    (dead,) = queue.dead()
    assert (dead.attempts, dead.error) == (3, "ended: it needed more than 256 MiB")
    assert client.get("ended:hungry") == b"ended: it needed more than 256 MiB"


def test_a_runner_that_raises_is_a_bug_of_that_job_alone(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    client.set("wanted:good", "yes")
    with a_worker(redis_url) as process:
        queue.add([a_job("bug"), a_job("good")], "event")
        wait_for(queue.dead)
        wait_for(has_seen(client, "good"))
        assert process.poll() is None

    assert [dead.error for dead in queue.dead()] == ["RuntimeError: a bug"]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        pytest.param("bad-ref", "ValueError: ", id="a ref that is none"),
        pytest.param("bad-record", "ValueError: its journal entry has ", id="a journal entry that is too long"),
    ],
)
def test_a_result_that_cannot_be_stored_is_a_bug_of_that_run_alone(
    redis_url: str, client: Redis, queue: WorkQueue, name: str, error: str
) -> None:
    client.set("wanted:good", "yes")
    with a_worker(redis_url):
        child = client.get("child")
        queue.add([a_job(name), a_job("good")], "event")
        wait_for(queue.dead)
        wait_for(has_seen(client, "good"))
        assert client.get("child") == child, "the worker died of it"

    (dead,) = queue.dead()
    assert dead.attempts == 3
    assert dead.error.startswith(error)


def test_a_worker_whose_leases_nobody_renews_ends_and_is_started_again(
    redis_url: str, client: Redis, queue: WorkQueue
) -> None:
    client.set("wanted:one", "yes")
    with a_worker(redis_url):
        child = client.get("child")
        client.hset("olmf:held", "v1/ConfigMap/ns/poison", b"1|nobody|\xff")  # no sweeper can read this
        client.zadd("olmf:leases", {"v1/ConfigMap/ns/poison": 1})
        wait_for(lambda: client.get("child") != child)
        client.delete("olmf:held", "olmf:leases")
        queue.add([a_job("one")], "event")
        wait_for(has_seen(client, "one"))


def test_a_child_ends_with_its_parent(redis_url: str, client: Redis) -> None:
    with a_worker(redis_url) as process:
        child = int(client.get("child") or 0)
        process.send(signal.SIGKILL)
        process.wait()
        wait_for(lambda: not os.path.exists(f"/proc/{child}"))  # noqa: PTH110  # a question to the kernel


def states_in_rq(client: Redis) -> list[str]:
    """Of every worker that RQ knows; it remembers a child that died for a while."""
    return [str(worker.get_state()) for worker in Worker.all(connection=client)]


def test_rq_shows_the_worker(redis_url: str, client: Redis) -> None:
    with a_worker(redis_url):
        wait_for(lambda: "busy" in states_in_rq(client))


def test_a_suspended_worker_waits_quietly(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    client.set("wanted:one", "yes")
    queue.add([a_job("one")], "event")
    suspend(client)
    with a_worker(redis_url):
        wait_for(lambda: "suspended" in states_in_rq(client))
        assert len(Queue(RQ_QUEUE, connection=client)) == 1
        assert not client.exists("started")
        resume(client)
        wait_for(has_seen(client, "one"))


def test_without_an_address_of_redis_nothing_starts() -> None:
    with pytest.raises(SettingError, match="OLMF_REDIS_URL"):
        connect("")


@pytest.mark.parametrize(
    ("serializer", "function"),
    [
        pytest.param(None, "os.getpid", id="a pickle"),
        pytest.param(JSONSerializer, "os.getpid", id="JSON without our version"),
        pytest.param(Payload, "os.getpid", id="a function to import"),
    ],
)
def test_what_is_not_ours_is_refused_and_counted(
    redis_url: str, client: Redis, queue: WorkQueue, serializer: object, function: str
) -> None:
    foreign = Queue(RQ_QUEUE, connection=client, serializer=serializer).enqueue_call(function)
    client.set("wanted:one", "yes")
    with a_worker(redis_url):
        queue.add([a_job("one")], "event")
        wait_for(lambda: queue.depth().refused == 1)
        wait_for(has_seen(client, "one"))

    assert foreign.get_status() == "failed"
    assert foreign.id in foreign.failed_job_registry.get_job_ids()


def test_a_callback_is_refused_too(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    rq_queue = Queue(RQ_QUEUE, connection=client, serializer=Payload)
    job = RqJob.create("drain", connection=client, serializer=Payload, origin=RQ_QUEUE, on_success=Callback(os.getpid))
    rq_queue.enqueue_job(job)
    with a_worker(redis_url):
        wait_for(lambda: queue.depth().refused == 1)


def test_requeueing_in_rq_releases_a_dead_letter(redis_url: str, client: Redis, queue: WorkQueue) -> None:
    queue.add([a_job("bug")], "event")
    failed = Queue(RQ_QUEUE, connection=client).failed_job_registry
    with a_worker(redis_url):
        (name,) = wait_for(failed.get_job_ids)
    before = client.llen("started")
    failed.requeue(name)

    with a_worker(redis_url):
        wait_for(lambda: client.llen("started") > before)


class TestADrainerByItself:
    """As the endpoint uses it on Knative, before it replies."""

    def drain(self, queue: WorkQueue, **limits: float) -> tuple[int, list[str]]:
        ran: list[str] = []

        def run(claim: Claim) -> RunResult:
            ran.append(claim.ref.name)
            return RunResult("run", b"{}")

        return Drainer(queue, (GROUP,), run).drain(linger=0, **limits), ran  # type: ignore[arg-type]  # int or float

    def test_runs_all_there_is(self, queue: WorkQueue) -> None:
        queue.add([a_job("one"), a_job("two")], "event")

        assert self.drain(queue) == (2, ["one", "two"])

    def test_ends_after_so_many(self, queue: WorkQueue) -> None:
        queue.add([a_job("one"), a_job("two")], "event")

        assert self.drain(queue, keys=1) == (1, ["one"])
        assert queue.depth().ready == {GROUP: 1}

    def test_ends_when_its_time_is_over(self, queue: WorkQueue) -> None:
        queue.add([a_job("one")], "event")

        assert self.drain(queue, seconds=0) == (0, [])

    def test_asks_redis_twice_for_each_job(self, queue: WorkQueue) -> None:
        queue.add([a_job(str(number)) for number in range(10)], "event")
        self.drain(queue, keys=1)  # which sends the scripts
        queue.client.config_resetstat()
        self.drain(queue)

        asked = {name: one["calls"] for name, one in queue.client.info("commandstats").items() if "eval" in name}
        assert asked == {"cmdstat_evalsha": 9 * 2 + 1}, "claim and finish of each, and one claim in vain"
