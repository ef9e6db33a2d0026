"""Who takes back what a step writes does not make it write as fast as he does."""

from __future__ import annotations

from datetime import timedelta

import pytest

from eventing.runner import Runner, Steps
from eventing.runner.contested import BURST, FORGOTTEN_SECONDS, LONGEST_SECONDS, MOST, Contested, digest
from shared.kinds import CONFIG_MAP, Ref
from shared.ports import Cluster
from shared.step import Apply, Delete, Merge, Outcome, Record, Replace, SetStatus, Write
from tests.eventing.effects.fake_api import FakeApi
from tests.eventing.runner.test_run import ONE, a_claim, a_map, record_of
from tests.kit.cluster import FixedClock
from tests.kit.one_step import OneStep

KEY = ("demo/mark_map", ONE)
MARK = (Merge(ONE, {"data": {"seen": "1"}}, "7"),)
HOUR = 3600


class Watch:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def fought(watch: Watch, times: int) -> Contested:
    """After the same writes, that many times, as soon as they may be."""
    contested = Contested(watch)
    for _ in range(times):
        watch.now += contested.pause(KEY, MARK).total_seconds()
        contested.note(KEY, MARK)
    return contested


def test_the_same_writes_wait_ever_longer() -> None:
    watch = Watch()
    waits = [fought(watch, times).pause(KEY, MARK).total_seconds() for times in range(1, BURST + 9)]
    assert waits == [*[0.0] * (BURST - 1), 1, 2, 4, 8, 16, 32, *[LONGEST_SECONDS] * 3]


def test_a_fight_of_days_is_none_that_ends_a_run() -> None:
    assert fought(Watch(), 10_000).pause(KEY, MARK).total_seconds() == LONGEST_SECONDS


def test_a_pause_ends() -> None:
    watch = Watch()
    contested = fought(watch, BURST + 2)
    watch.now += 3
    assert contested.pause(KEY, MARK) == timedelta(seconds=1)
    watch.now += 1
    assert not contested.pause(KEY, MARK)


def test_other_writes_wait_for_nothing() -> None:
    contested = fought(Watch(), BURST + 3)
    assert not contested.pause(KEY, (Merge(ONE, {"data": {"seen": "2"}}, "7"),))
    assert not contested.pause(("demo/other", ONE), MARK)


def test_after_a_calm_time_a_fight_is_forgotten() -> None:
    watch = Watch()
    contested = fought(watch, BURST + 9)
    watch.now += FORGOTTEN_SECONDS + 1
    contested.note(KEY, MARK)
    assert not contested.pause(KEY, MARK)


def test_what_is_remembered_is_bounded() -> None:
    contested = fought(Watch(), BURST)
    for number in range(MOST):
        contested.note(("demo/other", CONFIG_MAP.ref(f"m{number}", "olm")), MARK)
    assert not contested.pause(KEY, MARK)


OF_THE_SERVER = {"resourceVersion": "8", "generation": 3, "uid": "u", "managedFields": [{"time": "now"}]}
VERSIONED = {**a_map(), "metadata": {**a_map()["metadata"], **OF_THE_SERVER}, "status": {"seen": 2}}


@pytest.mark.parametrize(
    ("one", "other", "are_same"),
    [
        pytest.param(MARK, (Merge(ONE, {"data": {"seen": "1"}}, "8"),), True, id="of another version that was read"),
        pytest.param((Replace(a_map()),), (Replace(VERSIONED),), True, id="replaces another version"),
        pytest.param((Delete(ONE, "a"),), (Delete(ONE, "b"),), True, id="an object that somebody makes each time"),
        pytest.param(MARK, (*MARK, Record(ONE, "Normal", "Seen", "seen")), True, id="besides an Event"),
        pytest.param((Apply(a_map()),), (Apply({**a_map(), "data": {}}),), False, id="another content"),
        pytest.param((Apply(a_map()),), (Apply(a_map("two")),), False, id="another object"),
    ],
)
def test_what_counts_as_the_same(one: tuple[Write, ...], other: tuple[Write, ...], are_same: bool) -> None:
    assert (digest(one) == digest(other)) is are_same


def test_a_status_is_no_fight() -> None:
    watch = Watch()
    contested = Contested(watch)
    for _ in range(BURST * 2):
        contested.note(KEY, (SetStatus(ONE, {"seen": 1}, "7"),))
    assert not contested.pause(KEY, (SetStatus(ONE, {"seen": 1}, "7"),))


def test_a_run_that_is_held_writes_and_emits_nothing_and_comes_again() -> None:
    api, watch = FakeApi([a_map()]), Watch()
    steps = Steps("tests.eventing.runner.tiny")
    runner = Runner({Cluster: api}, api, FixedClock(), steps=steps, contested=Contested(watch))
    for _ in range(BURST):
        assert runner.run(a_claim("mark_map"), lambda *_: True).again_in is None
        api.objects[ONE] = {**api.objects[ONE], "data": {}}
    api.calls.clear()

    held = runner.run(a_claim("mark_map"), lambda *_: True)

    assert (api.calls, held.jobs, held.again_in, held.end) == (["get one"], (), timedelta(seconds=1), "waits")
    assert record_of(held).message == "the same writes were taken back by somebody again and again; they wait for 1 s"
    watch.now += HOUR
    assert runner.run(a_claim("mark_map"), lambda *_: True).again_in is None
    assert api.objects[ONE]["data"]


def test_a_status_that_changes_beside_an_object_that_is_as_desired_is_no_fight() -> None:
    api = FakeApi([a_map()])

    def report(ref: Ref, cluster: Cluster) -> Outcome:
        found = cluster.get(ref)
        assert found
        seen = int(found.get("status", {}).get("seen", 0)) + 1
        desired = {key: value for key, value in found.items() if key not in ("metadata", "status")}
        desired["metadata"] = {"name": ref.name, "namespace": ref.namespace}
        return Outcome((Apply(desired), SetStatus(ref, {"seen": seen}, found["metadata"]["resourceVersion"])))

    runner = Runner({Cluster: api}, api, FixedClock(), steps=OneStep(report))
    for _ in range(BURST + 3):
        assert runner.run(a_claim("report_map"), lambda *_: True).again_in is None
    assert api.objects[ONE]["status"] == {"seen": BURST + 3}
    assert not [call for call in api.calls if call.startswith("apply")]
