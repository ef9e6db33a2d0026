"""What a run read is known while its entry rests, and no longer: whoever does not know wakes it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from eventing.workqueue.read_sets import READ_SETS, keep_only, read_sets
from eventing.workqueue.values import entry_of
from tests.eventing.workqueue.conftest import Rig, a_job, a_result, rq_failed

READ = b'code\n{"catalogs":{}}'


def known(rig: Rig, *names: str) -> list[bytes]:
    return list(read_sets(rig.client, [a_job(name) for name in names or ("one",)]))


def ran(rig: Rig, name: str = "one", **fields: object) -> None:
    """A run that ended."""
    rig.queue.add([a_job(name)], "event")
    rig.queue.finish(rig.claim(), a_result(**fields))


def test_it_is_known_once_the_run_has_ended(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    assert known(rig) == [b""]
    claim = rig.claim()
    assert known(rig) == [b""]
    rig.queue.finish(claim, a_result(read_set=READ))
    assert known(rig, "one", "other") == [READ, b""]


def test_there_may_be_more_entries_than_one_call_takes(rig: Rig) -> None:
    ran(rig, "n-1200", read_set=READ)
    assert [one for one in known(rig, *(f"n-{number}" for number in range(1201))) if one] == [READ]


def test_it_is_unknown_while_the_entry_waits_runs_or_is_delayed(rig: Rig) -> None:
    """So a change that comes in between wakes it, and it runs once more."""
    ran(rig, read_set=READ)
    rig.queue.add([a_job(delay=timedelta(minutes=1))], "event")
    assert known(rig) == [b""]
    rig.end_delays()
    assert known(rig) == [b""]
    claim = rig.claim()
    assert known(rig) == [b""]
    rig.queue.finish(claim, a_result(read_set=READ, again_in=timedelta(minutes=1)))
    assert known(rig) == [b""]


def test_it_is_unknown_when_an_event_came_while_the_run_was_under_way(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    claim = rig.claim()
    rig.queue.add([a_job()], "another")
    rig.queue.finish(claim, a_result(read_set=READ))
    assert known(rig) == [b""]


@pytest.mark.parametrize("failure", ["retry", "bug", "lost"])
def test_a_run_that_failed_leaves_nothing(rig: Rig, failure: str) -> None:
    ran(rig, read_set=READ)
    ran(rig, read_set=READ, failure=failure)
    assert known(rig) == [b""]


def test_of_a_dead_letter_nothing_is_known(rig: Rig) -> None:
    ran(rig, read_set=READ)
    rig.queue.add([a_job()], "event")
    rig.fail(3, read_set=READ)
    assert (known(rig), len(rq_failed(rig))) == ([b""], 1)


def test_a_run_that_was_lost_leaves_nothing(rig: Rig) -> None:
    ran(rig, read_set=READ)
    rig.queue.add([a_job()], "event")
    claim = rig.claim()
    rig.end_leases()
    rig.queue.sweep()
    rig.queue.finish(claim, a_result(read_set=READ))
    assert known(rig) == [b""]


def test_the_next_run_says_what_is_known(rig: Rig) -> None:
    ran(rig, read_set=READ)
    ran(rig, read_set=b"more")
    assert known(rig) == [b"more"]
    ran(rig)
    assert (known(rig), rig.client.keys("olmf:job:*"), rig.client.keys(READ_SETS)) == ([b""], [], [])


def test_an_entry_that_rests_with_what_it_read_is_in_no_state(rig: Rig) -> None:
    ran(rig, read_set=READ)
    rig.queue.sweep()
    assert (rig.states(), rig.queue.depth().running, rig.queue.claim(["subscription"])) == ({}, 0, None)


def test_of_objects_that_are_gone_nothing_stays(rig: Rig) -> None:
    """Nobody enqueues an entry whose object was deleted while no watcher ran."""
    for name in ("one", *(f"gone-{number}" for number in range(1201))):
        ran(rig, name, read_set=READ)
    assert keep_only(rig.client, [a_job(), a_job("other")]) == 1201
    assert (rig.client.keys("olmf:job:*"), rig.client.scard(READ_SETS)) == (
        [f"olmf:job:{entry_of(a_job())}".encode()],
        1,
    )
    assert (known(rig), keep_only(rig.client, [a_job()])) == ([READ], 0)


def test_an_entry_that_waits_goes_on_without_it(rig: Rig) -> None:
    """It may be about an object that was made again just now."""
    ran(rig, read_set=READ)
    rig.queue.add([a_job()], "event")
    assert keep_only(rig.client, []) == 1
    rig.queue.finish(rig.claim(), a_result(read_set=b"anew"))
    assert known(rig) == [b"anew"]


def test_a_redis_that_lost_all_knows_nothing(rig: Rig) -> None:
    ran(rig, read_set=READ)
    rig.client.flushall()
    assert known(rig) == [b""]
