"""Who holds a ref, and what becomes of a run whose worker is gone."""

from __future__ import annotations

from typing import Literal

import pytest

from eventing.workqueue import Loss, WorkQueue
from eventing.workqueue.scripts import run
from shared.config import Settings
from tests.eventing.workqueue.conftest import GROUPS, Rig, a_job, a_result


def test_the_job_of_a_lost_worker_runs_again_with_its_causes(rig: Rig) -> None:
    rig.queue.add([a_job()], "event-1")
    lost = rig.claim()
    rig.queue.add([a_job()], "event-2")
    rig.end_leases()
    rig.queue.sweep()
    rig.end_delays()

    again = rig.claim()

    assert set(again.causes) == {"event-1", "event-2"}
    assert again.attempt == 2
    assert again.token > lost.token


def test_what_a_lost_run_announced_before_it_wrote_is_enqueued_by_what_caused_it(rig: Rig) -> None:
    rig.queue.add([a_job()], "event-1")
    lost = rig.claim()
    assert rig.queue.lease_left(lost, [a_job("other", lane="bulk")])
    assert rig.queue.is_lease_valid(lost)
    rig.end_leases()
    rig.queue.sweep()

    enqueued = rig.claim()

    assert (enqueued.ref.name, enqueued.lane, enqueued.causes) == ("other", "bulk", ("event-1",))


def test_an_announcement_ends_with_the_run(rig: Rig) -> None:
    rig.queue.add([a_job()], "event-1")
    claim = rig.claim()
    rig.queue.lease_left(claim, [a_job("other")])
    rig.queue.finish(claim, a_result())
    rig.queue.add([a_job()], "event-2")
    rig.claim()
    rig.end_leases()
    rig.queue.sweep()

    assert rig.states() == {"delayed": ["one"]}


def test_an_announcement_of_a_fenced_worker_counts_for_nothing(rig: Rig) -> None:
    rig.queue.add([a_job()], "event-1")
    lost = rig.claim()
    rig.end_leases()

    assert not rig.queue.lease_left(lost, [a_job("other")])
    rig.queue.sweep()

    assert rig.states() == {"delayed": ["one"]}


def test_a_fenced_worker_can_neither_write_nor_release(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    lost = rig.claim()
    rig.end_leases()
    assert not rig.queue.is_lease_valid(lost)
    rig.queue.sweep()
    rig.end_delays()
    successor = rig.claim()

    assert not rig.queue.is_lease_valid(lost)
    assert not rig.queue.finish(lost, a_result(record=b"stale", jobs=(a_job("emitted"),)))

    assert rig.queue.is_lease_valid(successor)
    assert rig.client.xlen("olmf:journal") == 0
    assert rig.states() == {"running": ["one"]}


def test_a_run_is_ended_only_once(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    claim = rig.claim()

    assert [rig.queue.finish(claim, a_result()) for _ in range(2)] == [True, False]


def test_a_run_that_reports_its_lease_is_lost_stores_nothing(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    claim = rig.claim()

    assert not rig.queue.finish(claim, a_result(failure="lost"))
    assert rig.client.xlen("olmf:journal") == 0
    assert rig.queue.is_lease_valid(claim)


def test_a_sweep_spares_a_lease_that_lasts(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    claim = rig.claim()
    rig.queue.sweep()

    assert rig.queue.is_lease_valid(claim)


def test_a_worker_that_renews_has_short_leases_and_keeps_them_by_sweeping(rig: Rig) -> None:
    renewing = a_renewing_queue(rig)
    rig.queue.add([a_job("mine"), a_job("theirs")], "event")
    mine, theirs = renewing.claim(GROUPS), rig.claim()
    assert mine
    assert (rig.client.zscore("olmf:leases", str(mine.ref)) or 0) < _redis_ms(rig) + 10_001
    rig.end_leases()

    renewing.sweep()

    assert renewing.is_lease_valid(mine)
    assert not rig.queue.is_lease_valid(theirs)
    assert rig.states() == {"running": ["mine"], "delayed": ["theirs"]}


def test_a_claim_whose_answer_was_lost_is_not_renewed(rig: Rig) -> None:
    renewing = a_renewing_queue(rig)
    rig.queue.add([a_job("unheard"), a_job("running")], "event")
    run(rig.client, "claim", renewing.worker, 10_000, 0, 1, *GROUPS)
    assert renewing.claim(GROUPS)
    rig.end_leases()

    renewing.sweep()

    assert rig.states() == {"running": ["running"], "delayed": ["unheard"]}


def test_a_run_that_gave_up_because_its_lease_was_over_is_not_renewed(rig: Rig) -> None:
    renewing = a_renewing_queue(rig)
    rig.queue.add([a_job()], "event")
    claim = renewing.claim(GROUPS)
    assert claim
    rig.end_leases()
    assert not renewing.finish(claim, a_result(failure="lost"))

    renewing.sweep()

    assert rig.states() == {"delayed": ["one"]}


def test_a_sweep_returns_in_time_to_renew(rig: Rig) -> None:
    assert WorkQueue(rig.client, Settings(lease_seconds=2), is_renewing=True).sweep() == 0.5


def test_a_lease_renewed_while_it_is_swept_is_spared(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    claim = rig.claim()
    entry = f"{claim.step}|{claim.ref}"  # the second half of a sweep that saw the lease before it was renewed

    assert not rig.queue._finish(entry, claim.token, a_result(), failure="timeout", delay=None, only_expired=True)
    assert rig.queue.is_lease_valid(claim)


def test_a_worker_that_is_known_to_be_lost_gives_back_at_once_and_reports_why(rig: Rig) -> None:
    other = WorkQueue(rig.client, Settings(), worker="other")
    rig.queue.add([a_job("mine"), a_job("theirs")], "event")
    rig.claim()
    theirs = other.claim(GROUPS)
    assert theirs

    rig.queue.sweep(lost_worker="me", loss=Loss("ended after 45 s: its time limit"))

    assert rig.states() == {"running": ["theirs"], "delayed": ["mine"]}
    assert [job.error for job in rig.queue.ls()] == ["", "ended after 45 s: its time limit"]
    assert other.is_lease_valid(theirs)


class TestTheRunsOfALostWorker:
    """Which of them is the reason is not always known."""

    def two(self, rig: Rig) -> frozenset[int]:
        rig.queue.add([a_job("one"), a_job("two")], "event")
        return frozenset({rig.claim().token, rig.claim().token})

    def test_one_alone_is_blamed_and_runs_alone_after_its_back_off(self, rig: Rig) -> None:
        rig.queue.add([a_job()], "event")
        token = rig.claim().token
        rig.queue.sweep(lost_worker="me", loss=Loss.among(frozenset({token}), "ended: memory", "limit"))
        assert rig.states() == {"delayed": ["one"]}
        rig.end_delays()
        again = rig.claim()
        assert (again.is_alone, again.attempt, again.ended) == (True, 2, "ended: memory")

    def test_none_of_several_is_blamed_and_each_runs_alone_at_once(self, rig: Rig) -> None:
        rig.queue.sweep(lost_worker="me", loss=Loss.among(self.two(rig), "ended: memory", "limit"))
        assert rig.states() == {"ready": ["one", "two"]}
        assert [(again.is_alone, again.attempt, again.ended) for again in (rig.claim(), rig.claim())] == [
            (True, 1, ""), (True, 1, ""),
        ]  # fmt: skip

    def test_one_that_was_not_under_way_yet_is_no_suspect(self, rig: Rig) -> None:
        first = min(self.two(rig))
        rig.queue.sweep(lost_worker="me", loss=Loss.among(frozenset({first}), "ended: memory", "limit"))
        assert rig.states() == {"delayed": ["one"], "ready": ["two"]}
        assert not rig.claim().is_alone

    def test_the_one_that_was_over_its_time_is_known(self, rig: Rig) -> None:
        first = min(self.two(rig))
        rig.queue.sweep(lost_worker="me", loss=Loss("ended after 45 s", "limit", blamed=frozenset({first})))
        assert rig.states() == {"delayed": ["one"], "ready": ["two"]}
        rig.end_delays()
        assert [rig.claim().is_alone for _ in range(2)] == [False, False]

    def test_a_redis_that_was_lost_is_the_fault_of_none_and_each_is_tried_again(self, rig: Rig) -> None:
        self.two(rig)
        for _ in range(5):
            rig.queue.sweep(lost_worker="me", loss=Loss("its worker lost Redis", "retry"))
            assert [job.state for job in rig.queue.ls()] == ["delayed", "delayed"], "never a dead letter"
            rig.end_delays()
            assert [rig.claim().is_alone for _ in range(2)] == [False, False]

    def test_those_of_a_worker_that_is_gone_with_its_parent_run_alone(self, rig: Rig) -> None:
        self.two(rig)
        rig.end_leases()
        rig.queue.sweep()
        rig.end_delays()
        assert [rig.claim().is_alone for _ in range(2)] == [True, True]

    @pytest.mark.parametrize("failure", ["limit", "bug"])
    def test_one_that_fails_alone_without_ending_its_process_is_no_suspect_any_more(
        self, rig: Rig, failure: Literal["limit", "bug"]
    ) -> None:
        rig.queue.sweep(lost_worker="me", loss=Loss.among(self.two(rig), "ended: memory", "limit"))
        first = rig.claim()
        assert first.is_alone
        if failure == "limit":
            rig.queue.sweep(lost_worker="me", loss=Loss("ended after 45 s", "limit", frozenset({first.token})))
        else:
            rig.queue.finish(first, a_result(run_id="", record=b"", failure="bug"))
        rig.claim()
        rig.end_delays()
        assert not rig.claim().is_alone

    def test_one_that_waited_for_its_turn_is_still_to_be_alone(self, rig: Rig) -> None:
        rig.queue.sweep(lost_worker="me", loss=Loss.among(self.two(rig), "ended: memory", "limit"))
        first, _ = rig.claim(), rig.claim()
        rig.queue.sweep(lost_worker="me", loss=Loss("ended after 45 s", "limit", frozenset({first.token})))
        assert rig.claim().is_alone

    def test_a_run_that_ends_is_no_suspect_any_more(self, rig: Rig) -> None:
        self.two(rig)
        rig.end_leases()
        rig.queue.sweep()
        rig.end_delays()
        rig.queue.finish(rig.claim(), a_result(failure="retry"))
        rig.end_delays()
        rig.claim()
        assert not rig.claim().is_alone


def test_tokens_grow_even_when_redis_forgets_them(rig: Rig) -> None:
    tokens = []
    for _ in range(3):
        rig.queue.add([a_job()], "event")
        tokens.append(rig.claim().token)
        rig.client.flushall()

    assert tokens == sorted(set(tokens))


def test_after_flushall_no_old_claim_holds(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    claim = rig.claim()
    rig.client.flushall()

    assert not rig.queue.is_lease_valid(claim)
    assert not rig.queue.finish(claim, a_result())
    assert rig.queue.add([a_job()], "event") == 1
    assert rig.claim().ref == claim.ref


def a_renewing_queue(rig: Rig) -> WorkQueue:
    return WorkQueue(rig.client, Settings(lease_seconds=60), worker="renewing", is_renewing=True)


def _redis_ms(rig: Rig) -> int:
    seconds, micros = rig.client.time()
    return int(seconds * 1000 + micros // 1000)


@pytest.mark.parametrize("failure", ["", "lost"])
def test_a_record_that_is_not_stored_makes_the_worker_forget_what_it_stored(rig: Rig, failure: str) -> None:
    """Redis was emptied: what the record leaves out, because it was stored before, is gone."""
    forgotten: list[str] = []
    rig.queue.forget_records = lambda: forgotten.append("all")
    rig.queue.add([a_job()], "event-1")
    claim = rig.claim()
    rig.queue.client.flushdb()

    assert not rig.queue.finish(claim, a_result(failure=failure))
    assert forgotten == ["all"]


def test_a_record_that_is_stored_makes_it_forget_nothing(rig: Rig) -> None:
    forgotten: list[str] = []
    rig.queue.forget_records = lambda: forgotten.append("all")
    rig.queue.add([a_job()], "event-1")
    assert rig.queue.finish(rig.claim(), a_result())
    assert not forgotten


PLACES = ("olmf:changes:v1/ConfigMap/ns", "olmf:changes:v1/ConfigMap/")


def counted(rig: Rig) -> list[object]:
    return [rig.client.hgetall(place) for place in PLACES]


def test_what_a_run_wrote_is_counted_when_it_ends_before_its_jobs_can_run(rig: Rig) -> None:
    rig.queue.add([a_job()], "event-1")
    claim = rig.claim()
    assert rig.queue.lease_left(claim, (), PLACES)
    assert counted(rig) == [{}, {}]
    assert rig.queue.finish(claim, a_result(counted=PLACES[:1]))
    assert counted(rig) == [{b"writes": b"1", b"writes:me": b"1"}, {}]
    assert 86_000 < rig.client.ttl(PLACES[0]) <= 86_400


def test_what_a_lost_run_may_have_written_is_counted_as_that_of_somebody_else(rig: Rig) -> None:
    """Nobody knows how far it came; its own worker reads again, too."""
    rig.queue.add([a_job()], "event-1")
    claim = rig.claim()
    assert rig.queue.lease_left(claim, [a_job("other")], PLACES)
    rig.end_leases()
    rig.queue.sweep()
    assert counted(rig) == [{b"writes": b"1"}, {b"writes": b"1"}]


def test_writers_that_come_and_go_are_forgotten(rig: Rig) -> None:
    rig.client.hset(PLACES[0], mapping={f"writes:{number}": 1 for number in range(60)})
    rig.queue.add([a_job()], "event-1")
    assert rig.queue.finish(rig.claim(), a_result(counted=PLACES[:1]))
    assert rig.client.hgetall(PLACES[0]) == {b"writes": b"1"}


def test_the_call_that_ends_a_run_claims_the_next_one(rig: Rig) -> None:
    rig.queue.add([a_job("one"), a_job("two")], "event-1")
    claim = rig.claim()
    is_ended, following = rig.queue.finish_and_claim(claim, a_result(), GROUPS, runs_per_namespace=1)
    assert is_ended
    assert following
    assert following.ref.name == "two", "one run of the namespace had ended before"
    assert rig.queue.finish_and_claim(following, a_result(), GROUPS) == (True, None)


def test_a_run_whose_lease_is_lost_ends_nothing_but_the_next_one_is_claimed(rig: Rig) -> None:
    rig.queue.add([a_job("one"), a_job("two")], "event-1")
    lost = rig.claim()
    rig.end_leases()
    rig.queue.sweep()
    for result in (a_result(jobs=(a_job("emitted"),)), a_result(failure="lost")):
        is_ended, following = rig.queue.finish_and_claim(lost, result, GROUPS)
        assert not is_ended
        assert following is None or following.ref.name == "two"
    assert "emitted" not in str(rig.states())


def test_several_are_claimed_at_once_of_a_namespace_each(rig: Rig) -> None:
    rig.queue.add([a_job(name, namespace=name[0]) for name in ("a1", "a2", "b1", "c1")], "event-1")
    claims = rig.queue.claims(GROUPS, runs_per_namespace=1, most=5)
    assert sorted(claim.ref.name for claim in claims) == ["a1", "b1", "c1"]
    assert len({claim.token for claim in claims}) == 3
    assert set(rig.queue.running) == set(claims), "their leases are renewed"


def test_how_long_a_lease_lasts_and_whether_others_wait_is_one_answer(rig: Rig) -> None:
    rig.queue.add([a_job("one"), a_job("two", namespace="other")], "event-1")
    claim = rig.claim()
    left, is_awaited = rig.queue.may_go_on(claim)
    assert 0 < left <= 60
    assert is_awaited == rig.queue.is_awaited(claim)
    rig.end_leases()
    assert rig.queue.may_go_on(claim)[0] == 0
