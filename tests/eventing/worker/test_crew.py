"""A worker with several runs at a time is not kept busy by what it cannot get."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn, cast

import pytest

from eventing.worker.crew import ThreadedDrainer
from eventing.worker.stopwatch import Stopwatch
from eventing.workqueue import Claim, WorkQueue
from eventing.workqueue.run_result import RunResult
from shared.kinds import NAMESPACE
from tests.kit.waiting import PATIENCE_SECONDS, wait_for

CLAIM = Claim(
    step="bundle/unpack_bundle", ref=NAMESPACE.ref("a"), group="bundle", lane="direct", token=1, attempt=0,
    causes=("e1",), cause_count=1, waited_ms=0, ended="", trace="", turn=0,
)  # fmt: skip
DONE = RunResult(run_id="r", record=b"", jobs=(), again_in=None, failure="", message="", own_events=())


class Ringing:
    """A queue whose bell rings all the time for what this worker cannot get."""

    def __init__(self, *claims: Claim, seconds: float = 0) -> None:
        self.waiting, self.waits, self.finished, self.asked, self.seconds = list(claims), 0, 0, list[int](), seconds
        self.now = 0.0

    def claims(self, _: Sequence[str], *, runs_per_namespace: int, most: int) -> tuple[Claim, ...]:
        assert runs_per_namespace == 1
        self.asked.append(most)
        self.now += self.seconds
        return tuple(self.waiting.pop() for _ in range(min(most, len(self.waiting))))

    def wait(self, _: Sequence[str], __: float) -> None:
        self.waits += 1

    def finish(self, *_: object) -> bool:
        self.finished += 1
        return True

    def finish_and_claim(
        self, _: Claim, __: RunResult, groups: Sequence[str], *, runs_per_namespace: int
    ) -> tuple[bool, Claim | None]:
        return self.finish(), next(iter(self.claims(groups, runs_per_namespace=runs_per_namespace, most=1)), None)


def a_drainer(queue: Ringing, run: Callable[[Claim], RunResult] = lambda _: DONE) -> ThreadedDrainer:
    return ThreadedDrainer(cast("WorkQueue", queue), ("bundle",), run, Stopwatch(2))


def test_a_wake_up_that_comes_all_the_time_is_heeded_now_and_then() -> None:
    queue = Ringing()
    a_drainer(queue).drain(seconds=0.2, linger=0.2)
    assert 1 < queue.waits < 20, "1 + 2 + 4 + 8 + 16 + 16 + … ms lie between two"


def test_a_run_that_is_to_be_alone_has_none_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "setswitchinterval", lambda _: None)
    present, also_to = set[int](), dict[int, int]()

    def run(claim: Claim) -> RunResult:
        present.add(claim.token)
        time.sleep(0.02)
        also_to[claim.token] = len(present)
        present.remove(claim.token)
        return DONE

    queue = Ringing(*(replace(CLAIM, token=token, is_alone=token % 3 == 0) for token in range(1, 13)))
    drainer = ThreadedDrainer(cast("WorkQueue", queue), ("bundle",), run, Stopwatch(4))
    drainer.begin(cast("Any", lambda act: act()))
    drainer.drain(linger=0.2)
    wait_for(lambda: queue.finished == 12, "the end of all runs")
    assert {also_to[token] for token in range(3, 13, 3)} == {1}
    assert max(also_to.values()) > 1, "the others went on side by side"


def test_while_a_run_is_alone_the_wake_ups_are_left_to_other_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "setswitchinterval", lambda _: None)
    is_over, waited_before = threading.Event(), list[int]()

    def run(_: Claim) -> RunResult:
        waited_before.append(queue.waits)
        assert is_over.wait(PATIENCE_SECONDS)
        return DONE

    queue = Ringing(replace(CLAIM, is_alone=True))
    drainer = a_drainer(queue, run)
    drainer.begin(cast("Any", lambda act: act()))
    drainer.drain(seconds=0.1, linger=0.1)
    wait_for(lambda: waited_before, "the begin of the run")
    drainer.drain(seconds=0.3, linger=0.3)
    assert queue.waits - waited_before[0] <= 1, "none after the run has begun, but for one that was under way"
    ending = threading.Timer(0.05, is_over.set)
    ending.start()
    started = time.monotonic()
    drainer.rest(PATIENCE_SECONDS)
    assert time.monotonic() - started < PATIENCE_SECONDS, "its end ends the rest"
    drainer.rest(0)
    assert queue.waits > 0, "after it the worker is woken as before"


def test_a_pause_ends_when_a_thread_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "setswitchinterval", lambda _: None)
    queue = Ringing(CLAIM)
    drainer = a_drainer(queue)

    def guard(act: Callable[[], NoReturn]) -> NoReturn:
        act()

    drainer.begin(cast("Any", guard))
    claims = drainer.claims()
    assert claims == (CLAIM,)
    started = time.monotonic()
    drainer.execute(claims)
    drainer.pause(60)
    assert time.monotonic() - started < 60
    wait_for(lambda: queue.finished == 1, "the end of the run")


@pytest.mark.parametrize(
    ("seconds", "asked"),
    [pytest.param(0.03, [1, 4], id="far away"), pytest.param(0.0, [1, 1, 1, 1], id="near, beside other workers")],
)
def test_all_idle_threads_claim_at_once_where_a_round_trip_takes_long(
    monkeypatch: pytest.MonkeyPatch, seconds: float, asked: list[int]
) -> None:
    monkeypatch.setattr(sys, "setswitchinterval", lambda _: None)
    is_over = threading.Event()

    def run(_: Claim) -> RunResult:
        assert is_over.wait(PATIENCE_SECONDS)
        return DONE

    queue = Ringing(*(replace(CLAIM, token=token) for token in range(1, 6)), seconds=seconds)
    drainer = ThreadedDrainer(cast("WorkQueue", queue), ("bundle",), run, Stopwatch(5), clock=lambda: queue.now)
    drainer.begin(cast("Any", lambda act: act()))
    threading.Timer(0.5, is_over.set).start()
    drainer.drain(keys=5, linger=1)
    assert queue.asked[: len(asked)] == asked
    drainer.end()
    assert queue.finished == 5, "the drainer ends when all runs have ended"
