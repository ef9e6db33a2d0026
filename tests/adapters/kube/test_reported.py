"""A run knows what was reported when it was claimed; it asks once for the rest, and counts its writes when it ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from shared.adapters.kube.answers import OWN, ChangeCounts, Place
from shared.adapters.kube.reported import (
    AGAIN_SECONDS,
    MAX_OTHERS,
    PRESENT_READS,
    SECONDS,
    PresentRun,
    Reported,
    ReportedChanges,
)
from shared.kinds import CONFIG_MAP, SERVICE_ACCOUNT, SUBSCRIPTION, Kind

KINDS = (SUBSCRIPTION, SERVICE_ACCOUNT)


class Redis:
    """Counts changes and writes, and who asks; stands for `Changes`."""

    def __init__(self) -> None:
        self.counted: dict[Place, ChangeCounts] = {}
        self.asked: list[tuple[Place, ...]] = []
        self.expected: list[tuple[str, Kind, str]] = []
        self.written: list[Place] = []

    def counts(self, places: Sequence[Place]) -> list[ChangeCounts]:
        self.asked.append(tuple(places))
        return [self.counted.get(place, ChangeCounts()) for place in places]

    def expect(self, step: str, kind: Kind, namespace: str) -> None:
        self.expected.append((step, kind, namespace))

    def forget(self, kind: Kind) -> None:
        raise AssertionError("a worker forgets nothing")

    def wrote(self, kind: Kind, namespace: str) -> None:
        self.written.append((kind, namespace))


class Rig:
    """Changes, a clock that a test moves, and the newest version that was noted of each kind."""

    def __init__(self) -> None:
        self.redis, self.seconds, self.noted = Redis(), 0.0, dict[Kind, str]()
        self.reported = ReportedChanges(self.redis, KINDS, self.noted.__setitem__, lambda: self.seconds)
        for kind in (*KINDS, CONFIG_MAP):
            self.reported.of(kind, "")  # the first look at a kind asks about restores
        self.redis.asked.clear()


@pytest.fixture
def rig() -> Rig:
    return Rig()


@contextmanager
def running(run: PresentRun) -> Iterator[PresentRun]:
    token = PRESENT_READS.set(run)
    try:
        yield run
    finally:
        PRESENT_READS.reset(token)


def test_without_a_run_each_look_asks(rig: Rig) -> None:
    rig.redis.counted[SUBSCRIPTION, "ns"] = ChangeCounts(7, "9")
    assert [rig.reported.of(SUBSCRIPTION, "ns").counts.total for _ in range(2)] == [7, 7]
    assert rig.redis.asked == [((SUBSCRIPTION, "ns"),)] * 2
    assert rig.noted[SUBSCRIPTION] == "9", "no list may be older"


def test_a_run_asks_once_for_all_that_it_may_read(rig: Rig) -> None:
    with running(PresentRun("demo/look", "ns")):
        for kind in KINDS:
            for place in ("ns", ""):
                rig.reported.of(kind, place)
    (asked,) = rig.redis.asked
    assert set(asked) == {(kind, place) for kind in KINDS for place in ("ns", "")}
    assert set(rig.redis.expected) == {("demo/look", kind, place) for kind in KINDS for place in (OWN, "")}


def test_what_the_claim_brought_is_not_asked_for(rig: Rig) -> None:
    claimed = {("operators.coreos.com/v1alpha1", "Subscription", "ns"): ChangeCounts(7, "9")}
    with running(PresentRun("demo/look", "ns", claimed)):
        assert rig.reported.of(SUBSCRIPTION, "ns").counts.total == 7
    assert (rig.redis.asked, rig.redis.expected, rig.noted[SUBSCRIPTION]) == ([], [], "9")


def test_a_decision_that_is_made_again_knows_what_came_meanwhile(rig: Rig) -> None:
    claimed = {("operators.coreos.com/v1alpha1", "Subscription", "ns"): ChangeCounts(7)}
    rig.redis.counted[SUBSCRIPTION, "ns"] = ChangeCounts(8)
    with running(PresentRun("demo/look", "ns", claimed)) as run:
        assert rig.reported.of(SUBSCRIPTION, "ns").counts.total == 7
        run.decides_again()
        assert rig.reported.of(SUBSCRIPTION, "ns").counts.total == 8


@pytest.mark.parametrize("is_claimed", [True, False])
def test_a_run_that_takes_long_asks_again(rig: Rig, is_claimed: bool) -> None:
    claimed = {("operators.coreos.com/v1alpha1", "Subscription", "ns"): ChangeCounts()} if is_claimed else {}
    with running(PresentRun("demo/look", "ns", claimed)):
        rig.reported.of(SUBSCRIPTION, "ns")
        rig.redis.counted[SUBSCRIPTION, "ns"] = ChangeCounts(8)
        rig.seconds += SECONDS
        assert rig.reported.of(SUBSCRIPTION, "ns").counts.total == 0
        rig.seconds += 0.1
        assert rig.reported.of(SUBSCRIPTION, "ns") == Reported(ChangeCounts(8), rig.seconds)


def test_what_was_reported_before_a_restore_makes_no_list_too_old(rig: Rig) -> None:
    """The claim may be from before the moment in which another thread has seen the restore."""
    claimed = {("operators.coreos.com/v1alpha1", "Subscription", "ns"): ChangeCounts(7, "900")}
    rig.redis.counted[SUBSCRIPTION, ""] = ChangeCounts(0, "", 0, "again")
    rig.seconds = 10.0
    assert rig.reported.is_restored(SUBSCRIPTION, "40")
    assert not rig.reported.is_restored(SUBSCRIPTION, "40"), "it is known now"
    rig.seconds += 1.0
    with running(PresentRun("demo/look", "ns", claimed)):
        rig.reported.of(SUBSCRIPTION, "ns")
    assert "900" not in rig.noted.values()
    rig.seconds += SECONDS
    with running(PresentRun("demo/look", "ns", claimed)):
        rig.reported.of(SUBSCRIPTION, "ns")
    assert rig.noted[SUBSCRIPTION] == "900"


def test_of_other_namespaces_a_claim_brings_a_few(rig: Rig) -> None:
    for number in range(MAX_OTHERS + 3):
        with running(PresentRun("demo/copy", f"ns-{number}")):
            rig.reported.of(SUBSCRIPTION, "olm")
            rig.reported.of(SUBSCRIPTION, f"copy-{number}")
            rig.reported.of(SERVICE_ACCOUNT, "olm")
    assert {place for _, _, place in rig.redis.expected} == {"olm", "copy-0"}
    assert len(rig.redis.expected) == 3


def test_a_redis_that_was_emptied_learns_again_after_a_while(rig: Rig) -> None:
    for seconds, times in ((0.0, 1), (AGAIN_SECONDS - 1, 1), (2.0, 2)):
        rig.seconds += seconds
        with running(PresentRun("demo/look", "ns")):
            rig.reported.of(SUBSCRIPTION, "ns")
        assert len(rig.redis.expected) == times


def test_the_writes_of_a_run_are_left_to_its_end(rig: Rig) -> None:
    rig.reported.wrote(SUBSCRIPTION, "ns")
    rig.reported.wrote_also(SUBSCRIPTION, "ns")
    with running(PresentRun("demo/look", "ns")) as run:
        rig.reported.wrote(SERVICE_ACCOUNT, "ns")
        rig.reported.wrote_also(SUBSCRIPTION, "other")
    assert rig.redis.written == [(SUBSCRIPTION, "ns")]
    assert run.written == {(SERVICE_ACCOUNT, "ns"), (SUBSCRIPTION, "other")}
