"""Schedules on RQ's cron: once per period however many schedulers run, and again after Redis has lost all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from rq import cron_job_registry
from rq.cron import CronScheduler, get_cron_job_ids

from eventing.workqueue.rq_cron import Schedules
from tests.eventing.workqueue.conftest import Rig

DAY = 24 * 60 * 60


def a_scheduler(rig: Rig, name: str, act: Callable[[str], object], *, seconds: int = DAY) -> Schedules:
    schedules = Schedules(rig.client, name)
    schedules.every(seconds, "audit", act)
    return schedules


def let_it_be_due(schedules: Schedules) -> None:
    """As if its period was over by its own clock."""
    for schedule in schedules.get_jobs():
        schedule.next_enqueue_time -= timedelta(days=2)


def test_several_schedulers_do_it_once_per_period(rig: Rig) -> None:
    done: list[str] = []
    several = [a_scheduler(rig, f"scheduler-{number}", done.append) for number in range(3)]
    for _ in range(3):
        for one in several:
            one.tick()
            let_it_be_due(one)

    [turn] = done
    period = int(turn.removeprefix("audit-"))
    assert period in (rig.client.time()[0] // DAY, rig.client.time()[0] // DAY - 1), "a test may run at midnight"


def test_the_next_period_is_another_turn(rig: Rig) -> None:
    done: list[str] = []
    scheduler = a_scheduler(rig, "one", done.append)
    scheduler.tick()
    rig.client.rename(f"olmf:turn:{done[0]}", "olmf:turn:audit-0")  # as if that had been long ago
    let_it_be_due(scheduler)
    scheduler.tick()

    assert len(done) == 2


def test_it_is_done_again_when_redis_has_lost_everything(rig: Rig) -> None:
    done: list[str] = []
    scheduler = a_scheduler(rig, "one", done.append)
    scheduler.tick()
    rig.client.flushall()
    scheduler.tick()
    scheduler.tick()

    assert len(done) == 2


def test_a_turn_that_was_begun_by_a_killed_scheduler_is_done_by_the_next(rig: Rig) -> None:
    def die(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        a_scheduler(rig, "killed", die).tick()
    [key] = rig.client.keys("olmf:turn:*")
    assert rig.client.ttl(key) <= 10
    done: list[str] = []
    next_one = a_scheduler(rig, "next", done.append)
    next_one.tick()
    assert done == [], "it may still be under way"
    rig.client.delete(key)  # as after ten seconds
    next_one.tick()
    assert len(done) == 1


def test_rq_shows_the_scheduler_what_it_does_when_and_when_it_did(rig: Rig) -> None:
    done: list[str] = []
    scheduler = a_scheduler(rig, "one", done.append)
    scheduler.tick()

    [shown] = CronScheduler.all(rig.client)
    [job] = shown.get_jobs()
    assert (shown.name, job.name, job.interval) == ("one", "audit", DAY)
    assert job.next_enqueue_time - job.latest_enqueue_time == timedelta(days=1)
    assert cron_job_registry.get_names(rig.client) == ["audit"]
    assert get_cron_job_ids("audit", rig.client) == done
    scheduler.register_death()
    assert CronScheduler.all(rig.client) == []


def test_a_tick_without_a_due_schedule_writes_nothing(rig: Rig) -> None:
    scheduler = a_scheduler(rig, "one", lambda _: None)
    scheduler.tick()
    before = rig.client.info("persistence")["rdb_changes_since_last_save"]
    for _ in range(5):
        scheduler.tick()

    assert rig.client.info("persistence")["rdb_changes_since_last_save"] == before
