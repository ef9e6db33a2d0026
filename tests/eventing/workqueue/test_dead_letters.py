"""Jobs that fail again and again are set aside, seen, and given another chance."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from datetime import UTC, datetime, timedelta
from importlib import resources

import pytest
from rq.utils import str_to_date

from eventing.workqueue import Claim, WorkQueue, connect
from eventing.workqueue.values import entry_of
from shared.config import Settings
from tests.eventing.workqueue.conftest import GROUPS, Rig, a_job, a_result, rq_failed
from tests.kit.waiting import wait_for


def test_a_bug_that_repeats_is_parked_and_its_neighbours_go_on(rig: Rig) -> None:
    rig.queue.add([a_job("bad")], "event")
    rig.fail(3)
    rig.queue.add([a_job("good")], "event")

    assert rig.claim().ref.name == "good"
    assert rig.queue.claim(GROUPS) is None
    (dead,) = rig.queue.dead()
    assert (dead.ref.name, dead.attempts, dead.error) == ("bad", 3, "boom")
    assert dead.since


def test_a_run_that_loses_its_worker_again_and_again_is_parked(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    for _ in range(3):
        rig.claim()
        rig.end_leases()
        rig.queue.sweep()
        rig.end_delays()

    assert rig.states() == {"dead": ["one"]}


def test_a_retry_is_never_parked(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.fail(50, failure="retry")

    assert rig.states() == {"ready": ["one"]}
    assert rig.claim().attempt == 51


def test_only_bugs_in_a_row_count(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.fail(2)
    rig.fail(1, failure="retry")
    rig.fail(2)

    assert rig.states() == {"ready": ["one"]}


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("subscription/look", id="an event for the step"),
        pytest.param("bundle/look", id="an event for another step of the ref"),
    ],
)
def test_the_next_outside_event_of_its_ref_releases_it(rig: Rig, step: str) -> None:
    rig.queue.add([a_job()], "event")
    rig.fail(3)

    rig.queue.add([a_job(step=step)], "somebody edited it")
    rig.end_delays()

    claims = list(iter(lambda: _claim_and_finish(rig), None))
    assert {claim.step for claim in claims} == {"subscription/look", step}
    assert all("somebody edited it" in claim.causes for claim in claims)
    assert rig.states() == {}
    assert rq_failed(rig) == []


def _claim_and_finish(rig: Rig) -> Claim | None:
    claim = rig.queue.claim(GROUPS)
    return claim if claim and rig.queue.finish(claim, a_result()) else None


def test_the_event_of_its_own_last_write_does_not_release_it(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.fail(3, own_events=("own",))

    rig.queue.add([a_job()], "own")

    assert rig.states() == {"dead": ["one"]}


def test_an_event_of_another_ref_does_not_release_it(rig: Rig) -> None:
    rig.queue.add([a_job("one")], "event")
    rig.fail(3)
    rig.queue.add([a_job("two")], "event")

    assert rig.states() == {"ready": ["two"], "dead": ["one"]}


def test_an_outside_event_during_the_last_run_counts_as_a_release(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.fail(2)
    claim = rig.claim()
    rig.queue.add([a_job()], "somebody edited it")
    rig.queue.finish(claim, a_result(failure="bug", message="boom"))
    rig.end_delays()
    rig.fail(2)

    assert rig.states() == {"ready": ["one"]}


@pytest.mark.parametrize("delay", [0, 2], ids=["an event", "an event that gathers others for two seconds"])
def test_events_release_it_but_do_not_shorten_its_back_off(rig: Rig, delay: int) -> None:
    for dead in range(7):
        rig.queue.add([a_job()], f"event {dead}")
        rig.end_delays()
        rig.fail(3)
    for number in range(10):
        rig.queue.add([a_job(delay=timedelta(seconds=delay))], f"edit {number}")

    assert rig.states() == {"delayed": ["one"]}
    assert 60 < rig.due_in() <= 300
    rig.end_delays()
    assert rig.claim().attempt == 22


def test_an_event_during_each_run_does_not_shorten_its_back_off(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    for number in range(20):
        claim = rig.claim()
        rig.queue.add([a_job(delay=timedelta(seconds=number % 2 if number > 2 else 0))], f"edit {number}")
        rig.queue.finish(claim, a_result(failure="bug", message="boom"))
        if number >= 2:
            assert rig.states() == {"delayed": ["one"]}
            assert number < 5 or rig.due_in() > 2
            rig.end_delays()

    assert rig.claim().attempt == 21


def test_after_its_back_off_an_event_releases_it_at_once(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.fail(3)
    rig.client.hset(f"olmf:job:{entry_of(a_job())}", "rests", 1)
    rig.queue.add([a_job()], "edit")

    assert rig.states() == {"ready": ["one"]}


@pytest.mark.parametrize("failure", [pytest.param("", id="a success"), pytest.param("retry", id="a wait")])
def test_a_run_without_a_bug_ends_the_pace(rig: Rig, failure: str) -> None:
    rig.queue.add([a_job()], "event")
    rig.fail(3)
    rig.queue.retry_dead()
    rig.queue.finish(rig.claim(), a_result(failure=failure, message="later"))
    rig.queue.add([a_job()], "edit")
    rig.fail(1)
    rig.queue.add([a_job()], "another edit")

    assert rig.states() == {"ready": ["one"]}


def test_a_released_job_has_all_its_chances_again(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.fail(3)
    rig.queue.add([a_job()], "edit")
    rig.end_delays()
    rig.fail(2)

    assert rig.states() == {"ready": ["one"]}
    rig.fail(1)
    assert rig.states() == {"dead": ["one"]}


def test_dead_letters_are_failed_jobs_of_rq(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.fail(3)

    (job,) = rq_failed(rig)
    (dead,) = rig.queue.dead()
    assert job.description == "subscription/look v1/ConfigMap/ns/one"
    assert (job.func_name, job.kwargs) == ("retry", {"step": "subscription/look", "ref": "v1/ConfigMap/ns/one"})
    assert (job.get_status(), job._exc_info) == ("failed", "boom")
    assert job.created_at == job.ended_at == dead.since


@pytest.mark.parametrize(
    "instant",
    [
        pytest.param(datetime(1970, 1, 1, tzinfo=UTC), id="the first day"),
        pytest.param(datetime(2000, 2, 29, 23, 59, 59, 999000, UTC), id="the leap day of a century"),
        pytest.param(datetime(2026, 12, 31, 12, 0, 1, 5000, UTC), id="the last day of a year"),
        pytest.param(datetime(2028, 3, 1, tzinfo=UTC), id="the day after a leap day"),
        pytest.param(datetime(2100, 2, 28, 1, 2, 3, tzinfo=UTC), id="a century without leap day"),
    ],
)
def test_a_time_as_rq_writes_it(rig: Rig, instant: datetime) -> None:
    lua = resources.files("eventing.workqueue").joinpath("dead_letters.lua").read_text()
    written = rig.client.eval(f"{lua} return rq_time(tonumber(ARGV[1]))", 0, round(instant.timestamp() * 1000))

    assert str_to_date(written) == instant


def park_for_ever(url: str) -> None:
    """A process that does nothing but to park jobs and release them."""
    with connect(url) as client:
        queue = WorkQueue(client, Settings(max_failures=1), worker=f"parker-{os.getpid()}")
        while True:
            queue.add([a_job(str(number)) for number in range(20)], "event")
            while claim := queue.claim(GROUPS):
                queue.finish(claim, a_result(failure="bug", message="boom"))
            queue.retry_dead()


@pytest.mark.crash
def test_dead_letters_and_failed_jobs_are_the_same_whenever_their_process_is_killed(redis_url: str, rig: Rig) -> None:
    randomness = random.Random(6)
    for _ in range(5):
        process = multiprocessing.get_context("spawn").Process(target=park_for_ever, args=(redis_url,))
        process.start()
        wait_for(lambda: rig.client.zcard("olmf:dead"))
        time.sleep(randomness.uniform(0, 0.05))
        process.kill()
        process.join()
        dead = sorted(f"{dead.step} {dead.ref}" for dead in rig.queue.dead())
        assert sorted(job.description for job in rq_failed(rig)) == dead
        assert len(list(rig.client.scan_iter("rq:job:dead-*"))) == len(dead)
        rig.end_leases()
        rig.queue.sweep()
        rig.end_delays()


@pytest.mark.parametrize(
    ("which", "left"),
    [
        pytest.param(None, [], id="all of them"),
        pytest.param([a_job("one")], ["two"], id="one of them"),
        pytest.param([a_job("unknown")], ["one", "two"], id="one that is not dead"),
    ],
)
def test_a_person_releases_dead_letters(rig: Rig, which: list[object] | None, left: list[str]) -> None:
    for name in ("one", "two"):
        rig.queue.add([a_job(name)], "event")
        rig.fail(3)

    assert rig.queue.retry_dead(which) == 2 - len(left)  # type: ignore[arg-type]  # cases above

    assert rig.states().get("dead", []) == left
    assert len(rig.states().get("ready", [])) == 2 - len(left)
    assert len(rq_failed(rig)) == len(left)


def test_what_an_emitting_run_enqueues_is_released_too(rig: Rig) -> None:
    rig.queue.add([a_job("bad")], "event")
    rig.fail(3)
    rig.queue.add([a_job("other")], "event")
    rig.queue.finish(rig.claim(), a_result(run_id="another run", jobs=(a_job("bad"),)))
    rig.end_delays()

    assert rig.states() == {"ready": ["bad"]}
    assert rq_failed(rig) == []
