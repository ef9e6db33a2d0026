"""How long a failed run waits."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventing.workqueue.run_result import FIRST_WAIT, LONGEST_WAIT, backoff


@pytest.mark.parametrize(
    ("failures", "random", "first", "want"),
    [
        pytest.param(1, 0.0, 2.0, 2.0, id="the first wait is what the step asked for"),
        pytest.param(1, 0.5, 2.0, 2.1, id="and a little more, so that many do not come back at once"),
        pytest.param(2, 0.0, 2.0, 2.0, id="the second is spread from there"),
        pytest.param(2, 0.5, 2.0, 3.0, id="to the double"),
        pytest.param(4, 0.0, 2.0, 8.0, id="each doubles"),
        pytest.param(4, 0.5, 2.0, 12.0, id="with jitter over its upper half"),
        pytest.param(40, 0.5, 2.0, 225.0, id="no wait grows beyond five minutes"),
        pytest.param(10_000, 0.0, 2.0, 150.0, id="however many failures there were"),
        pytest.param(1, 0.5, 0.0, 0.0, id="a step may ask for no wait at all"),
        pytest.param(3, 0.0, 0.0, 0.5, id="but not again and again"),
        pytest.param(5, 0.0, 600.0, 600.0, id="a step may ask for more than that"),
    ],
)
def test_backoff(failures: int, random: float, first: float, want: float) -> None:
    assert backoff(failures, random, first=timedelta(seconds=first)).total_seconds() == pytest.approx(want)


@given(st.integers(0, 10**6), st.floats(0, 1, exclude_max=True))
def test_a_wait_is_between_the_first_and_the_longest(failures: int, random: float) -> None:
    assert FIRST_WAIT <= backoff(failures, random) <= LONGEST_WAIT


@given(st.integers(1, 100), st.floats(0, 1, exclude_max=True))
def test_more_failures_never_wait_less(failures: int, random: float) -> None:
    assert backoff(failures, random) <= backoff(failures + 1, random)
