"""Whatever happens in whatever order: no ref runs twice at once, no wake-up is lost, nobody is passed over for long."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from eventing.events.job import INSTALL, Job, Lane
from eventing.workqueue import Claim
from eventing.workqueue.values import entry_of
from tests.eventing.workqueue.conftest import GROUPS, Rig, a_job, a_result, rq_failed

JOBS = st.builds(
    a_job,
    st.sampled_from(["one", "two"]),
    st.sampled_from(["subscription/look", "subscription/track_subscription", "bundle/look", "bundle/collect_bundle"]),
    st.sampled_from(["direct", "bulk"]),
    namespace=st.sampled_from(["ns", "other"]),
)
LONG_JOBS = st.builds(a_job, st.sampled_from(["one", "two"]), st.just("bundle/pull"), st.just("long"))
DELAYS = st.sampled_from([None, timedelta(0), timedelta(minutes=1)])


class Machine(RuleBasedStateMachine):
    """The queue beside the little that a caller may rely on."""

    rig: Rig

    def __init__(self) -> None:
        super().__init__()
        self.rig.client.flushall()
        self.number = 0
        self.owed: dict[str, set[str]] = {}
        """Causes of each job that no claim has carried yet."""
        self.locked: dict[str, Claim] = {}
        """By ref: the claim that may end its run."""
        self.announced: dict[str, Job] = {}
        """By ref: what that claim enqueues if it is lost."""
        self.greatest = 0

    @rule(job=JOBS | LONG_JOBS, delay=st.sampled_from([timedelta(), timedelta(), timedelta(minutes=1)]))
    def an_event_comes(self, job: Job, delay: timedelta) -> None:
        self.rig.queue.add([replace(job, delay=delay)], self._owe(job))

    @rule()
    def a_worker_claims(self) -> None:
        self._hold(self.rig.queue.claim(GROUPS))

    @rule(job=LONG_JOBS)
    def a_worker_of_the_long_lane_claims(self, job: Job) -> None:
        """Whatever RQ tells it to try: the job may run already, or not wait at all."""
        claim = self.rig.queue.claim_long(job)
        assert claim is None or claim.lane == "long"
        self._hold(claim)
        assert sum(one.lane == "long" for one in self.locked.values()) <= 1, "more than a namespace may have"

    def _hold(self, claim: Claim | None) -> None:
        if claim is None:
            return
        assert str(claim.ref) not in self.locked, "two claims hold one ref"
        assert claim.token > self.greatest
        self.greatest = claim.token
        self.locked[str(claim.ref)] = claim
        owed = self.owed.pop(entry_of(Job(claim.step, claim.ref)), set())
        assert owed <= set(claim.causes), "a cause was lost"

    @precondition(lambda self: self.locked)
    @rule(data=st.data(), job=JOBS | LONG_JOBS)
    def a_run_writes(self, data: st.DataObject, job: Job) -> None:
        ref = data.draw(st.sampled_from(sorted(self.locked)))
        assert self.rig.queue.lease_left(self.locked[ref], [job])
        self.announced[ref] = job

    @precondition(lambda self: self.locked)
    @rule(
        data=st.data(),
        delay=DELAYS,
        failure=st.sampled_from(["", "", "retry", "bug"]),
        emits=st.lists(JOBS | LONG_JOBS, max_size=2),
    )
    def a_run_ends(self, data: st.DataObject, delay: timedelta | None, failure: str, emits: list[Job]) -> None:
        claim = self.locked.pop(data.draw(st.sampled_from(sorted(self.locked))))
        self.announced.pop(str(claim.ref), None)
        self.number += 1
        run_id = f"run-{self.number}"
        for job in emits:
            self.owed.setdefault(entry_of(job), set()).add(run_id)
        result = a_result(run_id=run_id, jobs=tuple(emits), again_in=delay, failure=failure, message="failed")
        assert self.rig.queue.finish(claim, result)
        assert not self.rig.queue.finish(claim, result)

    @precondition(lambda self: self.locked)
    @rule()
    def all_leases_end(self) -> None:
        self.rig.end_leases()
        self.rig.queue.sweep()
        for claim in self.locked.values():
            assert not self.rig.queue.finish(claim, a_result())
            self.owed.setdefault(entry_of(Job(claim.step, claim.ref)), set()).update(claim.causes)
            if job := self.announced.get(str(claim.ref)):
                self.owed.setdefault(entry_of(job), set()).add(claim.causes[0])
        self.locked.clear()
        self.announced.clear()
        self.rig.end_delays()

    @rule()
    def all_delays_end(self) -> None:
        self.rig.end_delays()

    @rule()
    def a_person_releases_the_dead(self) -> None:
        self.rig.queue.retry_dead(cause="a person")

    @invariant()
    def a_job_has_one_place_at_most(self) -> None:
        waiting = [
            entry_of(Job(job.step, job.ref)) for job in (*self.rig.queue.ls(), *self.rig.queue.dead())
            if job.state != "running"
        ]  # fmt: skip
        assert len(waiting) == len(set(waiting)), waiting

    @invariant()
    def the_failed_jobs_of_rq_are_the_dead_letters(self) -> None:
        dead = sorted(f"{dead.step} {dead.ref}" for dead in self.rig.queue.dead())
        assert sorted(job.description for job in rq_failed(self.rig)) == dead

    def teardown(self) -> None:
        """In the end everything that is owed runs."""
        for claim in self.locked.values():
            assert self.rig.queue.finish(claim, a_result(run_id="last"))
        self.locked.clear()
        self.rig.queue.retry_dead(cause="a person")
        self.rig.end_delays()
        while last := self.rig.queue.claim(GROUPS) or self._claim_of_sweeper():
            assert self.owed.pop(entry_of(Job(last.step, last.ref)), set()) <= set(last.causes)
            assert self.rig.queue.finish(last, a_result(run_id="last"))
        assert self.owed == {}
        assert not [key for key in self.rig.client.scan_iter() if b"ConfigMap" in key], "something is left behind"
        assert not list(self.rig.client.scan_iter("rq:job:dead-*"))
        assert not [*self.rig.client.scan_iter("olmf:order*"), *self.rig.client.scan_iter("olmf:next*")]

    def _claim_of_sweeper(self) -> Claim | None:
        """A claim of a long job that waits; whoever sweeps finds it by itself."""
        self.rig.queue.sweep()
        found = [job for job in self.rig.queue.ls() if job.lane == "long"]
        return self.rig.queue.claim_long(Job(found[0].step, found[0].ref, "long")) if found else None

    def _owe(self, job: Job) -> str:
        self.number += 1
        self.owed.setdefault(entry_of(job), set()).add(cause := f"event-{self.number}")
        return cause


CREDIT_MS = 5000
"""How much more than its own share a namespace may be given while another waits."""


class Shares(RuleBasedStateMachine):
    """Namespaces whose runs are long and whose steps are near to the end of an install, or far from it."""

    rig: Rig

    def __init__(self) -> None:
        super().__init__()
        self.rig.client.flushall()
        self.number = 0
        self.locked: list[tuple[Claim, set[tuple[str, str]]]] = []
        """Each claim, and which namespaces waited in its lane."""
        self.waiting: set[tuple[str, str]] = set()
        """The namespaces that wait in each lane."""
        self.given: Counter[tuple[str, str]] = Counter()
        """By lane and namespace: the ms that its runs were charged."""
        self.passed: dict[tuple[str, str], Counter[str]] = {}
        """By lane and namespace that waits: the ms that the runs of each other one were charged meanwhile."""

    @rule(
        namespace=st.sampled_from(["one", "two", "three"]),
        step=st.sampled_from([INSTALL[0], INSTALL[-1], "bundle/look"]),
        lane=st.sampled_from(["direct", "direct", "bulk"]),
        count=st.sampled_from([1, 10]),
    )
    def events_come(self, namespace: str, step: str, lane: Lane, count: int) -> None:
        self.rig.queue.add([a_job(f"{number}", step, lane, namespace=namespace) for number in range(count)], "event")
        self._look()

    @rule()
    def a_worker_claims(self) -> None:
        before = self.waiting
        claim = self.rig.queue.claim((*GROUPS, INSTALL[0].partition("/")[0]))
        self._look()
        if claim:
            others = {each for each in before if each[0] == claim.lane and each[1] != claim.ref.namespace}
            for each in others:
                assert self.passed[each][claim.ref.namespace] <= CREDIT_MS + self.given[each], "it is passed over"
            self.locked.append((claim, others))

    @precondition(lambda self: self.locked)
    @rule(number=st.integers(0, 9), took=st.sampled_from([1, 1000]))
    def a_run_ends(self, number: int, took: int) -> None:
        beside = len(self.locked)
        claim, others = self.locked.pop(number % beside)
        assert self.rig.queue.finish(claim, a_result(took_ms=float(took)))
        took = max(1, took // beside)  # of the time of all workers
        self.given[claim.lane, claim.ref.namespace] += took
        self._look()
        for each in others & self.waiting:
            self.passed[each][claim.ref.namespace] += took

    @rule(count=st.integers(1, 8))
    def some_run(self, count: int) -> None:
        for _ in range(count):
            self.a_worker_claims()
            if self.locked:
                self.a_run_ends(-1, 1000)

    def _look(self) -> None:
        """See who waits; of those that no longer do, nothing is counted any more."""
        self.waiting = {(job.lane, job.ref.namespace) for job in self.rig.queue.ls() if job.state == "ready"}
        self.passed = {each: self.passed.get(each, Counter()) for each in self.waiting}


@pytest.mark.unmeasured
def test_any_order(rig: Rig) -> None:
    class OnThisServer(Machine):
        pass

    OnThisServer.rig = rig
    run_state_machine_as_test(
        OnThisServer,
        settings=settings(
            max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


@pytest.mark.unmeasured
def test_nobody_is_passed_over_for_longer_than_the_credit(rig: Rig) -> None:
    class OnThisServer(Shares):
        pass

    OnThisServer.rig = rig
    run_state_machine_as_test(
        OnThisServer,
        settings=settings(
            max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
