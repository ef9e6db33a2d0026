"""Two releases at one queue: the newer one goes on, and an older one that would misread it waits or does not start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import NoPermissionError, RedisError

from eventing.cli.failure import as_cli_error
from eventing.local.ports import free_port
from eventing.local.redis_server import RedisServer, find_binary
from eventing.workqueue import NewerFormat, WorkQueue, check_format, connect, is_paused
from shared.config import SettingError, Settings
from tests.eventing.workqueue.conftest import GROUPS, Rig, a_job, a_result
from tests.kit.waiting import wait_for

KEY = "olmf:format"
PRESENT = b"1"


def test_who_adds_or_claims_states_the_format(rig: Rig) -> None:
    assert rig.queue.depth().running == 0
    assert rig.client.get(KEY) is None  # why: who only looks must not lock anybody out
    rig.queue.add([a_job()], "event")
    assert rig.client.get(KEY) == PRESENT


def test_a_queue_without_a_format_is_one_of_before(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.client.delete(KEY)
    claim = rig.claim()
    assert rig.client.get(KEY) == PRESENT
    assert rig.queue.finish(claim, a_result())


def test_an_older_program_reads_and_changes_nothing(rig: Rig) -> None:
    rig.queue.add([a_job("one"), a_job("two")], "event")
    claim = rig.claim()
    rig.client.set(KEY, "2")
    before = {key: rig.client.dump(key) for key in rig.client.scan_iter()}
    calls = (
        lambda: rig.queue.add([a_job("three")], "event"),
        lambda: rig.queue.claim(GROUPS),
        lambda: rig.queue.is_lease_valid(claim),
        lambda: rig.queue.finish(claim, a_result()),
        lambda: rig.queue.sweep(),
        lambda: rig.queue.ls(),
        lambda: rig.queue.retry_dead([a_job("one")]),
    )
    for call in calls:
        with pytest.raises(NewerFormat, match=r"newer release .*format 2; this one knows 1.*FLUSHDB") as refused:
            call()
        assert is_paused(
            refused.value
        )  # why: a worker holds its claims, and repeats the call, until its Pod is replaced
    assert {key: rig.client.dump(key) for key in rig.client.scan_iter()} == before


def test_it_goes_on_where_the_queue_was_emptied(rig: Rig) -> None:
    rig.client.set(KEY, "2")
    rig.client.flushdb()
    rig.queue.add([a_job()], "event")
    assert rig.claim().ref == a_job().ref


def test_a_downgrade_is_refused_with_a_sentence(redis_url: str) -> None:
    with connect(redis_url) as client:
        WorkQueue(client, Settings()).add([a_job()], "event")
        check_format(redis_url)
        client.set(KEY, "2")
    environ = {**os.environ, "OLMF_REDIS_URL": redis_url, "OLMF_LOG_JSON": "false"}
    words = [sys.executable, "-m", "eventing.cli.main", "run", "worker"]
    done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 3
    assert done.stderr.startswith("olmf: a newer release of olmf wrote queue and journal (format 2; this one knows 1).")


def test_a_redis_that_does_not_answer_refuses_nobody() -> None:
    check_format("redis://127.0.0.1:1/0")


def test_a_cluster_of_several_is_refused_with_a_sentence(tmp_path: Path) -> None:
    port, bus = free_port(), free_port()
    words = [
        "--port",
        str(port),
        "--dir",
        str(tmp_path),
        "--save",
        "",
        "--cluster-enabled",
        "yes",
        "--cluster-port",
        str(bus),
    ]
    server = subprocess.Popen([find_binary(), *words], stdout=subprocess.DEVNULL)
    try:
        with connect(url := f"redis://127.0.0.1:{port}") as client:
            wait_for(lambda: answers(client))
        with pytest.raises(SettingError, match=r"a Redis Cluster cannot hold the queue, because .*; name one server"):
            check_format(url)
    finally:
        server.terminate()
        server.wait()


def answers(client: Redis) -> bool:
    """Whether a server is there."""
    try:
        return bool(client.ping())
    except RedisError:
        return False


def test_a_redis_that_may_not_be_asked_what_it_is_refuses_nobody(own_redis: RedisServer) -> None:
    with connect(own_redis.url) as client:
        client.acl_setuser("default", commands=["+@all", "-info"], enabled=True, nopass=True, keys=["*"])
        with pytest.raises(NoPermissionError):
            client.info("server")
    check_format(own_redis.url)


def test_people_get_the_sentence() -> None:
    failure = as_cli_error(NewerFormat("a newer release wrote it"))
    assert failure is not None
    assert str(failure) == "a newer release wrote it"
