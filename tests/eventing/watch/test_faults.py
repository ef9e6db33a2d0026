"""What the watcher does while the sink, an event or the API server is in trouble."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from redis.exceptions import BusyLoadingError, DataError, MasterDownError, OutOfMemoryError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError

from eventing.events.event import Event
from eventing.watch.kind_watch import KindWatch
from eventing.watch.known_objects import KnownObjects
from eventing.watch.outage import PROBE_SECONDS, SPREAD_SECONDS, Outage
from eventing.watch.program import Watcher
from eventing.watch.stream import Change, Stream
from eventing.watch.watch_health import AWAY_SECONDS, MOST_SKIPPED, REFUSED_SECONDS, WatchHealth
from shared import kinds
from shared.adapters.kube import ApiError, Connection
from shared.api.manifest import Manifest
from shared.kinds import Kind
from tests.eventing.watch.scripted_api import Lines, Listed, Refused, an_api
from tests.eventing.watch.test_watcher import A, Sink, an_object, until, watching
from tests.kit import virtual_time
from tests.kit.waiting import PATIENCE_SECONDS


def an_event(name: str) -> Event:
    return Event(f"uid-{name}.1.add", "type", "source", kinds.SUBSCRIPTION.ref(name, "olm"))


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(ValueError("not enough values to unpack"), id="of the code"),
        pytest.param(ResponseError("user_script:12: bad argument #1 to 'unpack'"), id="of a script of Redis"),
        pytest.param(DataError("Invalid input of type: 'NoneType'"), id="of a command of Redis"),
    ],
)
async def test_an_event_that_cannot_be_handled_is_skipped_alone(fault: Exception) -> None:
    taken: list[str] = []

    def sink(events: Sequence[Event]) -> None:
        for event in events:
            if event.ref.name == "bad":
                raise fault
            taken.append(event.ref.name)

    watcher = Watcher(Connection("http://api"), sink)
    await asyncio.wait_for(watcher.deliver([an_event(name) for name in ("a", "bad", "b")]), PATIENCE_SECONDS)
    assert (set(taken), watcher.skips.counts) == ({"a", "b"}, {"Subscription": 1})
    assert watcher.health.failing() == 0
    assert 'olmf_skipped_events_total{kind="Subscription"} 1.0' in (await watcher.metrics()).text


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(RedisConnectionError("refused"), id="away"),
        pytest.param(BusyLoadingError("Redis is loading"), id="loading"),
        pytest.param(OutOfMemoryError("command not allowed"), id="full"),
        pytest.param(MasterDownError("Link with MASTER is down"), id="a replica without its master"),
        pytest.param(ResponseError("MISCONF Redis is configured to save"), id="its disk is full"),
        pytest.param(
            ResponseError("Command # 1 (XADD) of pipeline caused error: MISCONF no"), id="the same in a pipeline"
        ),
    ],
)
async def test_what_passes_by_itself_is_waited_for(fault: Exception) -> None:
    faults, taken = [fault], list[str]()

    def sink(events: Sequence[Event]) -> None:
        if faults:
            raise faults.pop()
        taken.extend(event.ref.name for event in events)

    watcher = Watcher(Connection("http://api"), sink)
    await asyncio.wait_for(watcher.deliver([an_event("a")]), PATIENCE_SECONDS)
    assert (taken, watcher.skips.counts) == (["a"], {})


async def test_a_sink_that_takes_nothing_is_not_healthy_though_each_event_is_skipped() -> None:
    def sink(events: Sequence[Event]) -> None:
        if events[-1].ref.name != "good":
            raise ResponseError("unknown command 'EVALSHA'")

    watcher = Watcher(Connection("http://api"), sink)
    await asyncio.wait_for(watcher.deliver([an_event(f"{n}") for n in range(MOST_SKIPPED)]), PATIENCE_SECONDS)
    assert watcher.health.failing_since is None, "a few events may have a fault"
    await asyncio.wait_for(watcher.deliver([an_event("one-more")]), PATIENCE_SECONDS)
    assert watcher.health.failing_since is not None
    await asyncio.wait_for(watcher.deliver([an_event("good")]), PATIENCE_SECONDS)
    assert watcher.health.failing_since is None


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
    health = WatchHealth(clock=lambda: now)
    health.expect("subscriptions")
    health.record_first_list("subscriptions")
    health.refused(is_away=is_away)
    assert (health.is_ready, health.is_dead) == (True, False)
    now = bound - 1
    health.record_activity("subscriptions")
    health.refused(is_away=is_away)
    assert (health.is_ready, health.is_dead) == (False, False)
    now = bound + 1
    assert health.is_dead
    assert health.stale() == {}, "the API server answers; it is the sink that fails"
    health.accepted()
    assert (health.is_ready, health.is_dead) == (True, False)


def test_an_outage_of_redis_is_no_refusal() -> None:
    now = 0.0
    health = WatchHealth(clock=lambda: now)
    for now in (0.0, 100.0, 200.0):  # the clock reads it
        health.refused(is_away=now != 100.0)
    assert not health.is_dead


class Away(Stream):
    """The requests of one watch to an API server that is away until it is told to be back."""

    def __init__(self, kind: Kind, is_back: asyncio.Event) -> None:
        self.kind = kind
        self.asked = 0
        self._is_back = is_back

    async def pages(self) -> AsyncIterator[tuple[list[Manifest], str]]:
        self.asked += 1
        if not self._is_back.is_set():
            raise ApiError(503, "ServiceUnavailable", "no")
        yield [], "5"

    async def changes(self, position: str, seconds: int) -> AsyncIterator[list[Change]]:
        await asyncio.Event().wait()
        yield []


async def an_outage(seconds: float) -> tuple[float, list[int], int]:
    """How long after its end all watches went on, how often each had asked, and the number of probes."""
    is_back, probes = asyncio.Event(), 0
    health = WatchHealth()

    async def answers() -> bool:
        nonlocal probes
        probes += 1
        return is_back.is_set()

    async def deliver(_: Sequence[Event]) -> None:
        pass

    outage = Outage(answers)
    streams = [Away(kind, is_back) for kind in (kinds.SUBSCRIPTION, kinds.CATALOG_SOURCE, kinds.INSTALL_PLAN)]
    tasks = [
        asyncio.create_task(
            KindWatch(one, KnownObjects(one.kind, ""), deliver, health=health, seconds=60, outage=outage).run()
        )
        for one in streams
    ]
    await asyncio.sleep(seconds)
    asked, asked_probes = [one.asked for one in streams], probes
    is_back.set()
    began = asyncio.get_running_loop().time()
    await health.complete.wait()
    took = asyncio.get_running_loop().time() - began
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return took, asked, asked_probes


async def test_watches_go_on_when_the_probe_of_the_api_server_answers() -> None:
    async with an_api(*[Refused(503, "ServiceUnavailable")] * 10_000) as (api, connection):
        api.is_well = False
        async with watching(connection, Sink()) as watcher:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while api.probes < 2:
                    await asyncio.sleep(0.01)
            assert not watcher.health.complete.is_set()
            api.script.clear()
            api.is_well = True
            await asyncio.wait_for(watcher.health.complete.wait(), PATIENCE_SECONDS)


def test_one_probe_ends_the_pauses_of_all_watches_after_an_outage() -> None:
    """Each watch alone would pause for up to twelve seconds by now, and ask once in each pause."""
    took, asked, probes = virtual_time.run(an_outage(60))
    assert took <= PROBE_SECONDS + SPREAD_SECONDS
    assert max(asked) <= 15
    assert probes <= 61, "one probe for all"
