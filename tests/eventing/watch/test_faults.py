"""What the watcher does while the sink, an event or the API server is in trouble."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import pytest

from eventing.events import Event
from eventing.watch.program import Watcher
from eventing.watch.pulse import AWAY_SECONDS, REFUSED_SECONDS, Pulse
from shared import kinds
from shared.adapters.kube import Connection
from tests.eventing.watch.scripted_api import Lines, Listed, Refused, an_api
from tests.eventing.watch.test_watcher import A, Sink, an_object, until, watching
from tests.kit.waiting import PATIENCE_SECONDS


def an_event(name: str) -> Event:
    return Event(f"uid-{name}.1.add", "type", "source", kinds.SUBSCRIPTION.ref(name, "olm"))


async def test_an_event_that_cannot_be_handled_is_skipped_alone() -> None:
    taken: list[str] = []

    def sink(events: Sequence[Event]) -> None:
        for event in events:
            if event.ref.name == "bad":
                raise ValueError("not enough values to unpack")
            taken.append(event.ref.name)

    watcher = Watcher(Connection("http://api"), sink)
    await asyncio.wait_for(watcher.deliver([an_event(name) for name in ("a", "bad", "b")]), PATIENCE_SECONDS)
    assert (set(taken), watcher.skips.counts) == ({"a", "b"}, {"Subscription": 1})
    assert watcher.pulse.failing() == 0
    assert 'olmf_skipped_events_total{kind="Subscription"} 1' in await watcher.metrics()


async def test_a_line_that_is_no_json_is_skipped_alone() -> None:
    deep = b'{"type":"MODIFIED","object":{"spec":' + b"[" * 2000 + b"]" * 2000 + b"}}"
    async with an_api(Listed([A], "5"), Lines([("", deep), ("MODIFIED", an_object("a", 7))])) as (_, served):
        sink = Sink()
        async with watching(served, sink) as watcher:
            await until(sink, 2)
            assert sink.ids == ["uid-a.1.add", "uid-a.7.update"]
            assert watcher.skips.counts == {"Subscription": 1}


@pytest.mark.parametrize(
    ("is_away", "bound"), [(True, AWAY_SECONDS), (False, REFUSED_SECONDS)], ids=["away", "refuses"]
)
def test_a_watcher_whose_events_nobody_takes_is_dead_in_the_end(is_away: bool, bound: float) -> None:
    now = 0.0
    pulse = Pulse(clock=lambda: now)
    pulse.expect("subscriptions")
    pulse.settled("subscriptions")
    pulse.refused(is_away=is_away)
    assert (pulse.is_ready, pulse.is_dead) == (True, False)
    now = bound - 1
    pulse.beat("subscriptions")
    pulse.refused(is_away=is_away)
    assert (pulse.is_ready, pulse.is_dead) == (False, False)
    now = bound + 1
    assert pulse.is_dead
    assert pulse.stale() == {}, "the API server answers; it is the sink that fails"
    pulse.accepted()
    assert (pulse.is_ready, pulse.is_dead) == (True, False)


def test_an_outage_of_redis_is_no_refusal() -> None:
    now = 0.0
    pulse = Pulse(clock=lambda: now)
    for now in (0.0, 100.0, 200.0):  # the clock reads it
        pulse.refused(is_away=now != 100.0)
    assert not pulse.is_dead


async def test_one_probe_ends_the_pauses_of_all_watches_after_an_outage() -> None:
    """Each watch alone would pause for up to twelve seconds by now, and ask once in each pause."""
    watched = (kinds.SUBSCRIPTION, kinds.CATALOG_SOURCE, kinds.INSTALL_PLAN, kinds.OPERATOR_GROUP)
    async with an_api(*[Refused(503, "ServiceUnavailable")] * 10_000) as (api, connection):
        api.is_well = False
        sink = Sink()
        async with watching(connection, sink, *watched) as watcher:
            await asyncio.sleep(8)
            asked, probes = len(api.asked), api.probes
            api.script.clear()
            api.is_well, began = True, time.monotonic()
            await asyncio.wait_for(watcher.pulse.complete.wait(), PATIENCE_SECONDS)
            took = time.monotonic() - began
    assert took <= 3
    assert asked <= 8 * len(watched)
    assert probes <= 10, "one probe for all"
