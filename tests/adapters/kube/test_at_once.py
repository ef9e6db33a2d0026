"""Several questions at once: in threads, in order, as one run, and an error of one is the error of all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import pytest

from eventing.local.apiserver.direct import Direct
from shared.adapters.kube.at_once import THREADS, AtOnce
from shared.adapters.kube.decoding import LARGE_BYTES, decoded
from shared.adapters.kube.transport import PRESENT_RUN, Transport


def answer(value: int) -> int:
    return value


def test_answers_are_in_the_order_of_the_requests_however_many() -> None:
    for count in (0, 1, 2, 5 * THREADS):
        assert AtOnce().ask([partial(answer, value) for value in range(count)]) == tuple(range(count))


def test_no_request_waits_for_another() -> None:
    meeting = threading.Barrier(THREADS)
    assert len(AtOnce().ask([meeting.wait] * THREADS)) == THREADS


def test_an_answer_that_is_nested_too_deep_is_refused_in_a_thread_as_well() -> None:
    text = b'{"a":' * LARGE_BYTES
    with pytest.raises(ValueError, match="nested too deep"):
        AtOnce().ask([partial(answer, 1), partial(decoded, text)])


def test_where_no_answer_is_on_its_way_no_thread_begins() -> None:
    here = threading.current_thread()
    assert AtOnce(is_needed=False).ask([threading.current_thread] * THREADS) == (here,) * THREADS
    assert Transport.is_remote
    assert not Direct.is_remote


def test_each_is_asked_in_the_name_of_the_run() -> None:
    token = PRESENT_RUN.set("run")
    try:
        assert AtOnce().ask([PRESENT_RUN.get] * 3) == ("run", "run", "run")
    finally:
        PRESENT_RUN.reset(token)


def refuse(why: str) -> int:
    raise ValueError(why)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_error_is_raised_when_all_have_ended(place: int) -> None:
    ended: list[int] = []
    questions: list[Callable[[], object]] = [partial(ended.append, number) for number in range(3)]
    questions.insert(place, partial(refuse, "no"))
    with pytest.raises(ValueError, match="no"):
        AtOnce().ask(questions)
    assert sorted(ended) == [0, 1, 2]
