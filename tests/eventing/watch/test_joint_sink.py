"""What several watches deliver while the sink is busy goes in one call, and each answer to whom it belongs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from eventing.events.event import Event
from eventing.watch.joint_sink import MOST_EVENTS, JointSink
from shared import kinds
from tests.kit.waiting import PATIENCE_SECONDS


def an_event(name: str) -> Event:
    return Event(f"uid-{name}.1.add", "type", "source", kinds.SUBSCRIPTION.ref(name, "olm"))


class SlowSink:
    """Accepts nothing before it is let go on, and raises an error about some events."""

    def __init__(self, error: Exception | None = None) -> None:
        self.calls: list[str] = []
        self.error, self.goes_on = error, threading.Event()

    def __call__(self, events: Sequence[Event]) -> None:
        assert self.goes_on.wait(PATIENCE_SECONDS)
        self.calls.append(" ".join(event.ref.name for event in events))
        if self.error and any(event.ref.name == "bad" for event in events):
            raise self.error


async def delivered(sink: SlowSink, *batches: Sequence[str]) -> list[object]:
    """What became of each batch; all but the first come while the sink is busy with the first."""
    with ThreadPoolExecutor(1) as thread:
        joint = JointSink(sink, thread)
        tasks = [asyncio.create_task(joint.accept([an_event(name) for name in names])) for names in batches[:1]]
        await asyncio.sleep(0.05)
        tasks += [asyncio.create_task(joint.accept([an_event(name) for name in names])) for names in batches[1:]]
        await asyncio.sleep(0.05)
        sink.goes_on.set()
        return list(await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), PATIENCE_SECONDS))


async def test_what_came_while_it_was_busy_goes_in_one_call_and_in_order() -> None:
    sink = SlowSink()
    assert await delivered(sink, ["a"], ["b", "c"], ["d"]) == [None, None, None]
    assert sink.calls == ["a", "b c d"]


async def test_one_call_has_not_more_than_so_many_unless_one_watch_delivers_them() -> None:
    sink = SlowSink()
    many = [f"n{number}" for number in range(MOST_EVENTS + 1)]
    assert await delivered(sink, ["a"], ["b"], many, ["c"]) == [None] * 4
    assert [len(call.split()) for call in sink.calls] == [1, 1, MOST_EVENTS + 1, 1]


async def test_what_cannot_be_handled_is_refused_alone() -> None:
    error = ValueError("not an event")
    sink = SlowSink(error)
    assert await delivered(sink, ["a"], ["b"], ["bad"], ["c"]) == [None, None, error, None]
    assert sink.calls == ["a", "b bad c", "b", "bad", "c"]


@pytest.mark.parametrize("error", [RedisConnectionError("away"), OSError("no route")])
async def test_a_sink_that_is_away_is_not_called_for_each(error: Exception) -> None:
    sink = SlowSink(error)
    assert await delivered(sink, ["a"], ["b"], ["bad"]) == [None, error, error]
    assert sink.calls == ["a", "b bad"]


async def test_what_nobody_waits_for_any_more_is_not_sent() -> None:
    sink = SlowSink()
    with ThreadPoolExecutor(1) as thread:
        joint = JointSink(sink, thread)
        first = asyncio.create_task(joint.accept([an_event("a")]))
        await asyncio.sleep(0.05)
        second, third = (asyncio.create_task(joint.accept([an_event(name)])) for name in "bc")
        await asyncio.sleep(0.05)
        second.cancel()
        sink.goes_on.set()
        await asyncio.wait_for(asyncio.gather(first, third), PATIENCE_SECONDS)
    assert sink.calls == ["a", "c"]
