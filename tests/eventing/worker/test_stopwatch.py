"""The time of a run, as another process sees it."""

from __future__ import annotations

import math
import os

import pytest

from eventing.worker.stopwatch import Stopwatch


def test_nothing_runs_so_nothing_is_late() -> None:
    stopwatch = Stopwatch()
    assert stopwatch.left(10) == math.inf

    stopwatch.start()
    stopwatch.stop()
    assert stopwatch.left(10) == math.inf


def test_a_run_has_what_is_left_of_its_limit() -> None:
    stopwatch = Stopwatch()
    stopwatch.start()

    assert 3000 < stopwatch.left(3600) <= 3600
    assert stopwatch.left(0) <= 0


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # the child only writes and leaves
def test_a_parent_sees_the_run_of_its_child() -> None:
    stopwatch = Stopwatch()
    child = os.fork()
    if not child:
        stopwatch.start()
        os._exit(0)
    os.waitpid(child, 0)

    assert 3000 < stopwatch.left(3600) <= 3600


def test_of_several_runs_the_first_reaches_the_limit_and_is_the_late_one() -> None:
    now = iter([100.0, 103.0, 104.0, 104.0, 108.0])
    stopwatch = Stopwatch(3, lambda: next(now))
    stopwatch.start(7, slot=1)
    stopwatch.start(8, slot=2)

    assert stopwatch.left(10) == 6
    assert stopwatch.late(4) == {7}
    assert stopwatch.late(5) == {7, 8}


def test_the_present_runs_are_those_that_have_begun_and_not_ended() -> None:
    stopwatch = Stopwatch(slots=3)
    for slot, token in enumerate((7, 8, 9)):
        stopwatch.start(token, slot)
    stopwatch.stop(1)
    assert stopwatch.present() == {7, 9}

    stopwatch.reset()
    assert stopwatch.present() == set()
