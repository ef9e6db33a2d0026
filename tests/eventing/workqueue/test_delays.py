"""When a job runs again, and what may change that."""

from __future__ import annotations

from datetime import timedelta

import pytest

from eventing.workqueue.run_result import RunResult
from tests.eventing.workqueue.conftest import GROUPS, Rig, a_job, a_result

MINUTE = timedelta(minutes=1)
SLACK_SECONDS = 10
"""How long a loaded machine may take from one line of a test to the next."""


def test_a_delayed_job_waits_for_its_time(rig: Rig) -> None:
    rig.queue.add([a_job(delay=MINUTE)], "event")

    rig.queue.sweep()
    assert rig.queue.claim(GROUPS) is None
    rig.end_delays()

    assert rig.claim().causes == ("event",)


def test_an_event_from_outside_ends_a_delay(rig: Rig) -> None:
    rig.queue.add([a_job(delay=MINUTE)], "early")
    rig.queue.add([a_job()], "late")

    assert rig.claim().causes == ("early", "late")
    assert rig.states() == {"running": ["one"]}


def test_the_shorter_of_two_delays_counts(rig: Rig) -> None:
    rig.queue.add([a_job(delay=2 * MINUTE)], "event-1")
    rig.queue.add([a_job(delay=MINUTE)], "event-2")
    rig.queue.add([a_job(delay=3 * MINUTE)], "event-3")

    assert 50 < rig.due_in() <= 60


def test_jobs_of_one_event_wait_each_for_its_own_time(rig: Rig) -> None:
    added = rig.queue.add([a_job("later", delay=MINUTE), a_job("now")], "event")

    assert added == 2
    assert rig.states() == {"ready": ["now"], "delayed": ["later"]}


def test_a_step_that_asks_for_it_runs_again_later_because_of_that_run(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.queue.finish(rig.claim(), a_result(run_id="run-1", again_in=MINUTE))

    assert 50 < rig.due_in() <= 60
    rig.end_delays()
    assert rig.claim().causes == ("run-1",)


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(a_result(own_events=("own-1", "own-2"), again_in=MINUTE), id="a delay that the step asked for"),
        pytest.param(
            a_result(own_events=("own-1", "own-2"), failure="retry", again_in=MINUTE), id="back-off of a retry"
        ),
    ],
)
class TestTheEventOfOurOwnWrite:
    def test_does_not_shorten_the_delay_when_it_comes_late(self, rig: Rig, result: RunResult) -> None:
        rig.queue.add([a_job()], "event")
        rig.queue.finish(rig.claim(), result)

        rig.queue.add([a_job()], "own-1")

        assert rig.due_in() > 50
        assert rig.queue.claim(GROUPS) is None

    def test_does_not_shorten_the_delay_when_it_overtakes_the_end_of_the_run(self, rig: Rig, result: RunResult) -> None:
        rig.queue.add([a_job()], "event")
        claim = rig.claim()
        rig.queue.add([a_job()], "own-1")
        rig.queue.add([a_job()], "own-2")

        rig.queue.finish(claim, result)

        assert rig.due_in() > 50
        assert rig.queue.claim(GROUPS) is None

    def test_is_kept_as_a_cause(self, rig: Rig, result: RunResult) -> None:
        rig.queue.add([a_job()], "event")
        rig.queue.finish(rig.claim(), result)
        rig.queue.add([a_job()], "own-1")
        rig.end_delays()

        assert rig.claim().causes == ("run", "own-1")

    def test_beside_an_event_from_outside_makes_it_run_at_once(self, rig: Rig, result: RunResult) -> None:
        rig.queue.add([a_job()], "event")
        claim = rig.claim()
        rig.queue.add([a_job()], "own-1")
        rig.queue.add([a_job()], "foreign")
        rig.queue.finish(claim, result)

        assert rig.claim().causes == ("own-1", "foreign")

    def test_hides_no_later_event_from_outside(self, rig: Rig, result: RunResult) -> None:
        rig.queue.add([a_job()], "event")
        claim = rig.claim()
        rig.queue.add([a_job()], "own-1")
        rig.queue.finish(claim, result)
        rig.queue.add([a_job()], "foreign")

        assert rig.claim().causes == ("own-1", "run", "foreign")

    def test_wakes_every_other_step(self, rig: Rig, result: RunResult) -> None:
        rig.queue.add([a_job()], "event")
        rig.queue.finish(rig.claim(), result)
        rig.queue.add([a_job(step="bundle/look")], "own-1")

        assert rig.claim().step == "bundle/look"


def test_the_event_of_our_own_write_runs_a_job_that_has_no_delay(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    claim = rig.claim()
    rig.queue.add([a_job()], "own-1")
    rig.queue.finish(claim, a_result(own_events=("own-1",)))

    assert rig.claim().causes == ("own-1",)


def test_an_event_that_the_run_itself_emitted_does_not_shorten_its_delay(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.queue.finish(rig.claim(), a_result(failure="retry", again_in=MINUTE, jobs=(a_job(),)))

    assert rig.due_in() > 50


def test_a_step_that_asks_to_run_again_at_once_needs_no_sweep(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.queue.finish(rig.claim(), a_result(run_id="slice-1", again_in=timedelta(0)))

    assert rig.claim().causes == ("slice-1",)


def test_a_step_that_runs_again_at_once_forgets_a_delay_that_was_set_meanwhile(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    claim = rig.claim()
    rig.queue.add([a_job(delay=MINUTE)], "later")
    rig.queue.finish(claim, a_result(again_in=timedelta(0)))

    assert rig.states() == {"ready": ["one"]}


def test_failures_in_a_row_wait_longer_and_longer(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    # It doubles up to five minutes, and each wait is spread over its upper half, but none is shorter than asked for.
    for attempt, (least, most) in enumerate([(30, 33), (30, 60), (60, 120), (120, 240), (150, 300), (150, 300)], 1):
        claim = rig.claim()
        assert claim.attempt == attempt
        rig.queue.finish(claim, a_result(failure="retry", again_in=timedelta(seconds=30), message="not yet"))
        assert least - SLACK_SECONDS < rig.due_in() <= most + 1
        rig.end_delays()


def test_a_success_forgets_the_failures_before_it(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.fail(2)
    claim = rig.claim()
    rig.queue.add([a_job()], "meanwhile")
    rig.queue.finish(claim, a_result())

    assert (claim.attempt, rig.claim().attempt) == (3, 1)


def test_a_failure_is_listed_with_its_reason_and_the_next_try(rig: Rig) -> None:
    rig.queue.add([a_job()], "event")
    rig.queue.finish(rig.claim(), a_result(failure="retry", again_in=MINUTE, message="no content yet"))

    (job,) = rig.queue.ls()

    assert (job.state, job.attempts, job.error) == ("delayed", 1, "no content yet")
    assert job.due


def test_the_nearest_delay_reports_when_to_sweep_and_wakes_the_sweeper(rig: Rig) -> None:
    assert rig.queue.sweep() == 1.0
    rig.queue.add([a_job(delay=timedelta(milliseconds=300))], "event")

    assert rig.client.llen("olmf:alarm") == 1
    assert rig.queue.sweep() <= 0.3
