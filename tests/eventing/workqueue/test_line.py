"""Who waits, who runs, and in which order."""

from __future__ import annotations

from datetime import timedelta

import pytest

from eventing.events.job import Job, Lane
from eventing.workqueue import QueueFull, WorkQueue
from shared.config import Settings
from shared.kinds import ROLE
from tests.eventing.workqueue.conftest import GROUPS, Rig, a_job, a_result


def test_a_step_and_ref_waits_at_most_once(rig: Rig) -> None:
    rig.queue.add([a_job(), a_job()], "event-1")
    rig.queue.add([a_job()], "event-2")

    claim = rig.claim()

    assert (claim.causes, claim.cause_count) == (("event-1", "event-2"), 2)
    rig.queue.finish(claim, a_result())
    assert rig.queue.claim(GROUPS) is None


def test_an_event_reported_twice_is_one_cause(rig: Rig) -> None:
    rig.queue.add([a_job()], "event-1")
    rig.queue.add([a_job()], "event-1")

    assert rig.claim().cause_count == 1


def test_causes_beyond_the_bound_are_counted(rig: Rig) -> None:
    for number in range(100):
        rig.queue.add([a_job()], f"event-{number}")

    claim = rig.claim()

    assert claim.cause_count == 100
    assert claim.causes == tuple(f"event-{number}" for number in range(32))


def test_two_steps_of_one_ref_never_run_together(rig: Rig) -> None:
    rig.queue.add([a_job(step="subscription/look"), a_job(step="bundle/look")], "event")

    first = rig.claim()
    assert rig.queue.claim(GROUPS) is None
    rig.queue.finish(first, a_result())
    second = rig.claim()

    assert {first.step, second.step} == {"subscription/look", "bundle/look"}
    assert second.token > first.token


def test_different_refs_run_together(rig: Rig) -> None:
    rig.queue.add([a_job("one"), a_job("two")], "event")

    assert {rig.claim().ref.name, rig.claim().ref.name} == {"one", "two"}


@pytest.mark.unmeasured
def test_ten_thousand_events_while_it_runs_make_it_run_exactly_once_more(rig: Rig) -> None:
    rig.queue.add([a_job()], "first")
    claim = rig.claim()
    for number in range(10_000):
        rig.queue.add([a_job()], f"event-{number}")
    assert rig.queue.claim(GROUPS) is None

    rig.queue.finish(claim, a_result())
    again = rig.claim()
    rig.queue.finish(again, a_result())

    assert again.cause_count == 10_000
    assert rig.queue.claim(GROUPS) is None
    assert rig.states() == {}


def test_an_answered_job_leaves_no_key_behind(rig: Rig) -> None:
    rig.queue.add([a_job(str(number)) for number in range(50)], "event")
    while claim := rig.queue.claim(GROUPS):
        rig.queue.finish(claim, a_result())

    assert not [key for key in rig.client.scan_iter() if b"ConfigMap" in key]


def test_direct_goes_before_bulk_in_every_group(rig: Rig) -> None:
    rig.queue.add([a_job("bulk", lane="bulk"), a_job("other-bulk", "bundle/look", "bulk")], "event")
    rig.queue.add([a_job("direct", "bundle/look")], "event")

    assert rig.claim().ref.name == "direct"


def test_a_direct_event_takes_a_waiting_job_out_of_the_bulk_lane(rig: Rig) -> None:
    rig.queue.add([a_job("first", lane="bulk"), a_job("second", lane="bulk")], "event")
    rig.queue.add([a_job("second")], "event")

    claim = rig.claim()

    assert (claim.ref.name, claim.lane) == ("second", "direct")
    assert rig.states() == {"running": ["second"], "ready": ["first"]}


def test_an_event_of_the_bulk_lane_leaves_a_direct_job_in_its_lane_while_it_waits_for_its_next_try(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.queue.finish(rig.claim(), a_result(failure="retry", message="not now"))
    rig.queue.add([a_job(lane="bulk")], "audit")

    assert rig.claim().lane == "direct"


def test_a_lane_is_first_come_first_served_across_groups(rig: Rig) -> None:
    names = [f"job-{number}" for number in range(20)]
    for number, name in enumerate(names):
        rig.queue.add([a_job(name, "subscription/look" if number % 3 else "bundle/look")], "event")

    assert [rig.claim().ref.name for _ in names] == names


def test_a_worker_claims_only_from_its_groups(rig: Rig) -> None:
    rig.queue.add([a_job(step="bundle/look")], "event")

    assert rig.queue.claim(["subscription"]) is None
    assert rig.queue.claim(["bundle"])


def test_no_group_at_all_is_a_mistake(rig: Rig) -> None:
    with pytest.raises(ValueError, match="at least one group"):
        rig.queue.claim([])


def test_the_end_of_a_run_enqueues_the_jobs_that_it_emitted_and_journals_it(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    emitted = (a_job("next", "bundle/look"), a_job("one"))

    rig.queue.finish(rig.claim(), a_result(run_id="run-7", record=b"what happened", jobs=emitted))

    claims = [rig.claim(), rig.claim()]
    assert {(claim.ref.name, claim.causes) for claim in claims} == {("next", ("run-7",)), ("one", ("run-7",))}
    assert [entry[1] for entry in rig.client.xrange("olmf:journal") or () if entry] == [{b"run": b"what happened"}]


def test_without_room_for_a_journal_a_run_ends_all_the_same(rig: Rig) -> None:
    queue = WorkQueue(rig.client, Settings(journal_bytes=0))
    queue.add([a_job()], "event")

    assert queue.finish(rig.claim(), a_result())
    assert rig.client.xlen("olmf:journal") == 0


@pytest.mark.parametrize(
    "job",
    [
        pytest.param(a_job(step="/look"), id="no group"),
        pytest.param(a_job(step="bundle/look|x"), id="our separator in a step"),
    ],
)
def test_what_could_not_be_read_back_is_not_queued(rig: Rig, job: Job) -> None:
    with pytest.raises(ValueError, match=r"cannot be queued|is not a ref"):
        rig.queue.add([job], "event")

    assert rig.queue.depth().ready == {}


def test_a_name_may_hold_what_separates_our_words(rig: Rig) -> None:
    job = Job("bundle/look", ROLE.ref("system:a|b c\nd,e", "ns"))
    rig.queue.add([job], "event")

    assert rig.claim().ref == job.ref


def test_the_id_of_an_event_is_one_short_line(rig: Rig) -> None:
    rig.queue.add([a_job()], "a\nb" + "c" * 1000)

    (cause,) = rig.claim().causes
    assert cause.startswith("a bccc")
    assert len(cause) == 200


def test_ringing_wakes_one_drainer_and_claiming_wakes_the_next(rig: Rig) -> None:
    rig.queue.add([a_job("one"), a_job("two")], "event")

    assert rig.client.llen("olmf:bell:subscription") == 1
    rig.queue.wait(GROUPS, 5)
    rig.claim()
    assert rig.client.llen("olmf:bell:subscription") == 1


def test_a_sweep_wakes_again_when_a_wake_up_was_lost(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.queue.wait(GROUPS, 5)

    rig.queue.sweep()

    assert rig.client.llen("olmf:bell:subscription") == 1


def test_many_jobs_are_added_in_one_go(rig: Rig) -> None:
    assert rig.queue.add([a_job(str(number)) for number in range(1_201)], "event") == 1_201
    assert rig.queue.depth().ready == {"subscription": 1_201}


@pytest.mark.parametrize("lane", ["direct", "bulk", "long"])
def test_where_the_number_of_waiting_jobs_is_bounded_none_is_added_beyond_it(rig: Rig, lane: Lane) -> None:
    """Invariant 13."""
    for number in range(3):
        rig.queue.add([a_job(f"made-up-{number}", lane=lane)], "hint", most=3)
    with pytest.raises(QueueFull, match="of 3 for each namespace"):
        rig.queue.add([a_job("more", lane=lane)], "hint", most=3)
    rig.queue.add([a_job("made-up-0", lane=lane)], "hint", most=3)
    rig.queue.add([a_job("more", lane=lane, namespace="neighbour")], "hint", most=3)
    rig.queue.add([a_job("of-our-own", lane=lane)], "event")

    names = {job.ref.name for job in rig.queue.ls()}
    assert names == {"made-up-0", "made-up-1", "made-up-2", "more", "of-our-own"}


@pytest.mark.parametrize("delay", [0, 60])
def test_so_it_is_for_all_namespaces_together(rig: Rig, delay: int) -> None:
    jobs = [a_job("made-up", namespace=f"ns-{number}", delay=timedelta(seconds=delay)) for number in range(21)]
    for job in jobs[:20]:
        rig.queue.add([job], "hint", most=1)
    with pytest.raises(QueueFull):
        rig.queue.add(jobs[20:], "hint", most=1)
