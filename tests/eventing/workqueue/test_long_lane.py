"""The long lane: one RQ job for each long job, a budget for each namespace, and namespaces in turn."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict

import pytest
from rq import Queue
from rq.exceptions import StopRequested
from rq.job import Job as RqJob

from eventing.events.job import Job
from eventing.workqueue import Claim, Loss, WorkQueue
from eventing.workqueue.rq_jobs import Payload
from eventing.workqueue.rq_long import LONG_QUEUE, RUN, LongWorker, cancel, is_canceled, name_of, note_progress
from shared.config import Settings
from shared.domain.progress import Progress
from shared.kinds import Ref
from tests.eventing.workqueue.conftest import GROUPS, Rig, a_job, a_result


def a_long(name: str = "one", namespace: str = "ns") -> Job:
    return Job("bundle/pull", Ref("v1", "ConfigMap", name, namespace), "long")


def in_rq(rig: Rig) -> list[str]:
    """The objects of the RQ jobs, in the order in which RQ will run them."""
    queue = Queue(LONG_QUEUE, connection=rig.client, serializer=Payload)
    jobs = [RqJob.fetch(name, connection=rig.client, serializer=Payload) for name in queue.get_job_ids()]
    return ["/".join(job.kwargs["ref"].split("/")[2:]) for job in jobs]


def with_workers(rig: Rig, number: int) -> None:
    rig.client.sadd(f"rq:workers:{LONG_QUEUE}", *(f"rq:worker:{each}" for each in range(number)))


def run_next(rig: Rig, **result: object) -> Claim | None:
    """What a worker of the lane does with the RQ job at the head."""
    name = rig.client.lpop(f"rq:queue:{LONG_QUEUE}")
    assert isinstance(name, bytes)
    arguments = RqJob.fetch(name.decode(), connection=rig.client, serializer=Payload).kwargs
    claim = rig.queue.claim_long(Job(arguments["step"], Ref.parse(arguments["ref"]), "long"))
    if claim and result:
        assert rig.queue.finish(claim, a_result(**result))
    return claim


def test_a_long_job_becomes_one_rq_job_and_other_workers_leave_it_alone(rig: Rig) -> None:
    rig.queue.add([a_long()], "e1")
    rig.queue.add([a_long()], "e2")
    for _ in range(3):
        rig.queue.sweep()

    assert rig.queue.claim(GROUPS) is None
    assert in_rq(rig) == ["ns/one"]
    assert rig.states() == {"ready": ["one"]}
    claim = run_next(rig)
    assert claim
    assert (claim.lane, claim.causes) == ("long", ("e1", "e2"))


def test_a_worker_goes_on_though_the_record_of_its_rq_job_is_deleted_during_the_run(rig: Rig) -> None:
    rig.queue.add([a_long("one"), a_long("two", "other")], "event")
    rig.queue.sweep()
    ran: list[str] = []

    def begin(*, ref: str, **_: object) -> Callable[[], None]:
        def run() -> None:
            for key in rig.client.scan_iter("rq:job:*"):
                if ref.rpartition("/")[2].encode() in key:
                    rig.client.delete(key)
            ran.append(ref.rpartition("/")[2])
            if len(ran) == 2:
                worker._stop_requested = True

        return run

    worker = LongWorker(rig.client, "w-1", {RUN: begin})
    with suppress(StopRequested):
        worker.serve()

    assert sorted(ran) == ["one", "two"]


def test_the_id_of_an_rq_job_is_readable_and_has_only_letters_that_rq_accepts() -> None:
    jobs = [(a_long("a.b"), 1), (a_long("a-b"), 1), (a_long("x" * 250), 1), (a_long("a.b"), 2)]
    names = [name_of(*job) for job in jobs]

    assert len(set(names)) == 4
    assert names[0].startswith("bundle-pull-ns-a-b-")
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,150}", name) for name in names)


def test_an_event_during_the_run_makes_it_run_exactly_once_more(rig: Rig) -> None:
    rig.queue.add([a_long()], "e1")
    rig.queue.sweep()
    claim = run_next(rig)
    assert claim
    rig.queue.add([a_long()], "e2")
    rig.queue.add([a_long()], "e3")
    rig.queue.sweep()
    assert in_rq(rig) == []
    rig.queue.finish(claim, a_result())
    rig.queue.sweep()

    again = run_next(rig, run_id="r2")
    assert again
    assert again.causes == ("e2", "e3")
    rig.queue.sweep()
    assert in_rq(rig) == []
    assert rig.states() == {}


def test_a_ref_runs_one_at_a_time_across_lanes(rig: Rig) -> None:
    rig.queue.add([a_job("one")], "e1")
    direct = rig.claim()
    rig.queue.add([a_long()], "e2")
    rig.queue.sweep()
    assert in_rq(rig) == []
    rig.queue.finish(direct, a_result())
    rig.queue.sweep()
    long = run_next(rig)
    assert long
    rig.queue.add([a_job("one")], "e3")

    assert rig.queue.claim(GROUPS) is None
    rig.queue.finish(long, a_result())
    assert rig.claim().step == "subscription/look"


def test_an_rq_job_whose_ref_is_held_waits_behind_it(rig: Rig) -> None:
    rig.queue.add([a_long()], "e1")
    rig.queue.sweep()
    rig.queue.add([a_job("one")], "e2")
    direct = rig.claim()

    assert run_next(rig) is None
    assert rig.states() == {"running": ["one"], "blocked": ["one"]}
    rig.queue.finish(direct, a_result())
    rig.queue.sweep()
    assert run_next(rig, run_id="r") is not None
    assert rig.states() == {}


@pytest.mark.parametrize(
    "lost",
    [
        pytest.param(f"rq:queue:{LONG_QUEUE}", id="the list of RQ"),
        pytest.param(f"rq:job:{name_of(a_long(), 1)}", id="the RQ job"),
    ],
)
def test_an_rq_job_that_is_lost_is_made_again(rig: Rig, lost: str) -> None:
    rig.queue.add([a_long()], "e1")
    rig.queue.sweep()
    rig.client.delete(lost)
    rig.client.lpop(f"rq:queue:{LONG_QUEUE}")  # RQ passes over a job without content
    rig.queue.sweep()

    assert in_rq(rig) == ["ns/one"]


def test_an_rq_job_that_is_doubled_runs_once(rig: Rig) -> None:
    rig.queue.add([a_long()], "e1")
    rig.queue.sweep()
    rig.client.rpush(f"rq:queue:{LONG_QUEUE}", name_of(a_long(), 1))

    assert run_next(rig, run_id="r") is not None
    assert run_next(rig) is None


def test_the_worker_of_a_long_run_is_lost_and_the_next_run_is_reported_its_limit(rig: Rig) -> None:
    rig.queue.add([a_long()], "e1")
    rig.queue.sweep()
    assert run_next(rig)
    rig.queue.sweep(lost_worker="me", loss=Loss("ended after 600 s: its time limit", "limit"))
    rig.end_delays()

    again = run_next(rig)
    assert again
    assert (again.ended, again.attempt, again.causes) == ("ended after 600 s: its time limit", 2, ("e1",))
    assert rig.queue.finish(again, a_result(failure="retry", message="told"))
    rig.end_delays()
    third = run_next(rig)
    assert third
    assert (third.ended, third.attempt) == ("", 3)
    assert [(ran.result, ran.count) for ran in rig.queue.ran()] == [("retry", 1), ("timeout", 1)]


class TestTurns:
    """Namespaces share the workers."""

    def test_a_namespace_has_only_so_many_runs(self, rig: Rig) -> None:
        with_workers(rig, 9)
        rig.queue.add([a_long(str(number), "greedy") for number in range(6)], "e")
        rig.queue.sweep()

        assert in_rq(rig) == ["greedy/0", "greedy/1"]
        first = run_next(rig)
        assert first
        assert run_next(rig)
        rig.queue.sweep()
        assert in_rq(rig) == []
        assert rig.queue.claim_long(a_long("2", "greedy")) is None
        rig.queue.finish(first, a_result())
        rig.queue.sweep()
        assert in_rq(rig) == ["greedy/2"]

    def test_namespaces_take_turns(self, rig: Rig) -> None:
        with_workers(rig, 9)
        rig.queue.add([a_long(str(number), "greedy") for number in range(6)], "e")
        rig.queue.add([a_long("0", "modest"), a_long("0", "late")], "e")
        rig.queue.sweep()

        assert in_rq(rig) == ["greedy/0", "modest/0", "late/0", "greedy/1"]

    def test_a_namespace_never_has_all_workers(self, rig: Rig) -> None:
        with_workers(rig, 2)
        rig.queue.add([a_long("0", "greedy"), a_long("1", "greedy"), a_long("0", "modest")], "e")
        rig.queue.sweep()

        assert in_rq(rig) == ["greedy/0", "modest/0"]

    def test_thousands_of_jobs_of_one_namespace_do_not_hide_another(self, rig: Rig) -> None:
        with_workers(rig, 9)
        rig.queue.add([a_long(str(number), "greedy") for number in range(3_000)], "e")
        rig.queue.add([a_long("0", "modest")], "e")
        rig.queue.sweep()

        assert in_rq(rig) == ["greedy/0", "modest/0", "greedy/1"]
        assert rig.queue.depth().long == 3_001
        assert rig.queue.depth().ready == {"bundle": 0}

    def test_the_number_is_a_setting(self, rig: Rig) -> None:
        with_workers(rig, 9)
        queue = WorkQueue(rig.client, Settings(long_runs_per_namespace=3))
        queue.add([a_long(str(number), "greedy") for number in range(6)], "e")
        queue.sweep()

        assert len(in_rq(rig)) == 3


class TestInRq:
    """What a person may do with RQ's own tools."""

    def fetch(self, rig: Rig) -> RqJob:
        return RqJob.fetch(name_of(a_long(), 1), connection=rig.client, serializer=Payload)

    def test_canceling_a_waiting_job_makes_it_a_dead_letter(self, rig: Rig) -> None:
        rig.queue.add([a_long()], "e1")
        rig.queue.sweep()
        self.fetch(rig).cancel()
        rig.queue.sweep()

        (dead,) = rig.queue.dead()
        assert (dead.ref.name, dead.error) == ("one", "canceled in RQ")
        rig.queue.sweep()
        assert in_rq(rig) == []
        rig.queue.add([a_long()], "an edit")
        rig.queue.sweep()
        assert in_rq(rig) == ["ns/one"]

    def test_our_own_verb_cancels_as_rq_does(self, rig: Rig) -> None:
        rig.queue.add([a_long(), a_long("two")], "e1")
        assert cancel(rig.client, a_long()) == 0, "RQ does not have it yet"
        rig.queue.sweep()
        assert (cancel(rig.client, a_long()), cancel(rig.client, a_long())) == (1, 0)
        rig.queue.sweep()

        assert rig.states() == {"ready": ["two"], "dead": ["one"]}
        rig.queue.sweep()
        claim = rig.queue.claim_long(a_long("two"))
        assert claim
        assert cancel(rig.client, a_long("two")) == 1
        assert is_canceled(rig.client, claim)

    def test_canceling_a_running_job_is_seen_once_and_fences_its_run(self, rig: Rig) -> None:
        rig.queue.add([a_long()], "e1")
        rig.queue.sweep()
        claim = run_next(rig)
        assert claim
        self.fetch(rig).cancel()

        assert is_canceled(rig.client, claim)
        assert not is_canceled(rig.client, claim)
        assert rig.queue.cancel(claim)
        assert not rig.queue.is_lease_valid(claim)
        assert not rig.queue.finish(claim, a_result())
        assert rig.states() == {"dead": ["one"]}

    def test_the_rq_job_reports_its_limit_and_how_far_it_is(self, rig: Rig) -> None:
        rig.queue.add([a_long()], "e1")
        rig.queue.sweep()
        job = self.fetch(rig)
        assert (job.description, job.timeout) == ("bundle/pull v1/ConfigMap/ns/one", 600)
        claim = run_next(rig)
        assert claim
        progress = Progress(1, 12, 600, "pulling", 5, 80, 1, 3)
        note_progress(rig.client, claim, progress)

        assert self.fetch(rig).meta == asdict(progress)
        (job,) = rig.queue.ls()
        assert job.progress == progress

    def test_how_far_it_is_is_forgotten_with_its_run(self, rig: Rig) -> None:
        rig.queue.add([a_long()], "e1")
        rig.queue.sweep()
        claim = run_next(rig)
        assert claim
        note_progress(rig.client, claim, Progress(1, 12, 600))
        assert rig.queue.finish(claim, a_result(failure="retry", message="later"))
        note_progress(rig.client, claim, Progress(1, 13, 600))

        (job,) = rig.queue.ls()
        assert (job.state, job.progress) == ("delayed", None)
        rig.end_delays()
        assert run_next(rig)
        (job,) = rig.queue.ls()
        assert (job.state, job.progress) == ("running", None)
