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
