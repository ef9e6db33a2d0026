"""The watcher against an API server that misbehaves as told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import aiohttp
import pytest

from eventing.events.event import Event
from eventing.metrics.exposition import Exposition
from eventing.metrics.listener import address_of, listener
from eventing.watch.program import Watcher, serve_health
from eventing.watch.watch_health import WatchHealth
from shared import kinds, names
from shared.adapters.kube import Connection
from shared.api.manifest import Manifest
from shared.config import Settings
from shared.kinds import Kind
from tests.eventing.watch.scripted_api import Lines, Listed, Refused, Script, an_api
from tests.kit.waiting import PATIENCE_SECONDS


def an_object(name: str, version: int) -> Manifest:
    return {"metadata": {"name": name, "namespace": "olm", "uid": f"uid-{name}", "resourceVersion": str(version)}}


def a_bookmark(version: int) -> tuple[str, Manifest]:
    return "BOOKMARK", {"metadata": {"resourceVersion": str(version)}}


def an_error(code: int, reason: str) -> tuple[str, Manifest]:
    return "ERROR", {"kind": "Status", "code": code, "reason": reason, "message": "no"}


class Sink:
    """Remembers event ids; fails as often as told, before that."""

    def __init__(self, *, failures: int = 0) -> None:
        self.events: list[Event] = []
        self.calls = 0
        self._failures = failures

    def __call__(self, events: Sequence[Event]) -> None:
        self.calls += 1
        if self._failures:
            self._failures -= 1
            raise ConnectionError("Redis is away")
        self.events += events

    @property
    def ids(self) -> list[str]:
        return [event.id for event in self.events]


@asynccontextmanager
async def watching(connection: Connection, sink: Sink, *watched: Kind) -> AsyncIterator[Watcher]:
    watcher = Watcher(connection, sink, kinds=watched or (kinds.SUBSCRIPTION,), seconds=60)
    task = asyncio.create_task(watcher.run())
    try:
        yield watcher
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(sink: Sink, count: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(sink.ids) < count:
            await asyncio.sleep(0.005)


A, B = an_object("a", 1), an_object("b", 2)


@pytest.mark.parametrize(
    ("script", "want", "asked"),
    [
        pytest.param(
            [Listed([A], "5", following="more"), Listed([B], "5"), Lines([("ADDED", an_object("c", 6))])],
            ["uid-a.1.add", "uid-b.2.add", "uid-c.6.add"],
            ["list", "list more", "watch 5"],
            id="what exists enqueues once, page by page, then what changes",
        ),
        pytest.param(
            [Listed([A], "5"), Lines([a_bookmark(9)], "ends"), Lines([("MODIFIED", an_object("a", 10))])],
            ["uid-a.1.add", "uid-a.10.update"],
            ["list", "watch 5", "watch 9"],
            id="a watch that ends is taken up at the last bookmark",
        ),
        pytest.param(
            [
                Listed([A], "5"),
                Lines([("MODIFIED", an_object("a", 6))], "breaks"),
                Lines([("MODIFIED", an_object("a", 7))]),
            ],
            ["uid-a.1.add", "uid-a.6.update", "uid-a.7.update"],
            ["list", "watch 5", "watch 6"],
            id="a watch that breaks off is taken up after the last whole line",
        ),
        pytest.param(
            [
                Listed([A, B], "5"),
                Lines([an_error(410, "Expired")]),
                Listed([B, an_object("c", 8)], "9"),
                Lines([("MODIFIED", an_object("b", 10))]),
            ],
            ["uid-a.1.add", "uid-b.2.add", "uid-c.8.add", "uid-a.1.delete", "uid-b.10.update"],
            ["list", "watch 5", "list", "watch 9"],
            id="410 in a watch: list again, and tell only the difference",
        ),
        pytest.param(
            [Listed([A], "5"), Refused(410, "Expired"), Listed([A], "9"), Lines([("ADDED", B)])],
            ["uid-a.1.add", "uid-b.2.add"],
            ["list", "watch 5", "list", "watch 9"],
            id="410 as the answer to a watch, and nothing had changed",
        ),
        pytest.param(
            [Refused(503, "ServiceUnavailable"), Listed([A], "5")],
            ["uid-a.1.add"],
            ["list", "list", "watch 5"],
            id="a server that is starting is asked again",
        ),
        pytest.param(
            [Listed([A], "5"), Refused(404, "NotFound"), Refused(404, "NotFound"), Listed([B], "7")],
            ["uid-a.1.add", "uid-a.1.delete", "uid-b.2.add"],
            ["list", "watch 5", "list", "list", "watch 7"],
            id="a kind that is served no more takes its objects along, and comes back",
        ),
    ],
)
async def test_the_life_of_a_watch(script: Script, want: list[str], asked: list[str]) -> None:
    async with an_api(*script) as (api, connection):
        sink = Sink()
        async with watching(connection, sink):
            await until(sink, len(want))
            async with asyncio.timeout(PATIENCE_SECONDS):
                while len(api.asked) < len(asked):
                    await asyncio.sleep(0.005)
    output = [
        f"watch {query['resourceVersion']}"
        if "watch" in query
        else " ".join(["list", *filter(None, [query.get("continue")])])
        for query in api.asked
    ]
    assert (sink.ids, output) == (want, asked)


async def test_a_change_counts_as_delivered_when_the_sink_has_it() -> None:
    changed = Lines([("MODIFIED", an_object("a", 6))], "ends")
    async with an_api(Listed([A], "5"), changed, Lines([])) as (api, connection):
        sink = Sink(failures=3)
        async with watching(connection, sink):
            await until(sink, 2)
    assert (sink.ids, sink.calls) == (["uid-a.1.add", "uid-a.6.update"], 5)
    assert [query["resourceVersion"] for query in api.asked if "watch" in query][:1] == ["5"]


async def test_a_definition_wakes_the_watch_of_its_kind() -> None:
    definition = kinds.CUSTOM_RESOURCE_DEFINITION.ref("subscriptions.operators.coreos.com")
    # why: so many refusals alone would take minutes, because a kind that is not served is asked for ever more seldom
    async with an_api(*[Refused(404, "NotFound")] * 12, Listed([A], "5")) as (_, connection):
        sink = Sink()
        async with watching(connection, sink) as watcher, asyncio.timeout(PATIENCE_SECONDS):
            while "uid-a.1.add" not in sink.ids:
                await watcher.deliver([Event("crd", "dev.knative.apiserver.resource.add", "x", definition)])
                await asyncio.sleep(0.005)


async def test_an_optional_kind_that_is_not_served_is_asked_for_once_until_its_definition_comes() -> None:
    proxy = {"metadata": {"name": "cluster", "uid": "uid-p", "resourceVersion": "9"}}
    async with an_api(Refused(404, "NotFound"), Listed([proxy], "9")) as (api, connection):
        sink = Sink()
        async with watching(connection, sink, kinds.PROXY) as watcher:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await watcher.health.complete.wait()
                while watcher.health.ages():  # it rests: nobody waits for it, and no pause ends
                    await asyncio.sleep(0.005)
            assert len(api.asked) == 1
            definition = kinds.CUSTOM_RESOURCE_DEFINITION.ref(kinds.PROXY.definition)
            await watcher.deliver([Event("e", names.ADDED, "cluster", definition)])
            await until(sink, 2)
            assert sink.ids == ["e", "uid-p.9.add"]
            assert watcher.health.ages().keys() == {kinds.PROXY.definition}


async def test_bookmarks_and_timeouts_are_asked_for_and_only_metadata() -> None:
    async with an_api(Listed([A], "5"), Lines([("ADDED", B)])) as (api, connection):
        sink = Sink()
        async with watching(connection, sink):
            await until(sink, 2)
    watch = api.asked[1]
    assert watch["allowWatchBookmarks"] == "true"
    assert 48 <= int(watch["timeoutSeconds"]) <= 60


@pytest.mark.parametrize("kind", [kinds.CONFIG_MAP, kinds.JOB], ids=["ConfigMap", "Job"])
async def test_of_kinds_that_everybody_has_many_of_only_ours_are_asked_for(kind: Kind) -> None:
    async with (
        an_api(Listed([A], "5"), Lines()) as (api, connection),
        watching(connection, Sink(), kind),
        asyncio.timeout(PATIENCE_SECONDS),
    ):
        await api.is_over.wait()
    assert [asked["labelSelector"] for asked in api.asked[:2]] == ["olm.managed=true"] * 2


async def nothing(_: str) -> Exposition:
    return Exposition("", "text/plain")


async def test_livez_fails_when_a_watch_is_older_than_its_bound() -> None:
    now = 0.0
    health = WatchHealth(clock=lambda: now, bound=60)
    health.expect("jobs.batch")
    listening = listener(Settings(kubeconfig="given", port=0))
    redis = [True]
    runner = await serve_health(health, listening, nothing, has_redis=lambda: redis[0])
    try:
        async with aiohttp.ClientSession(address_of(listening)) as session:

            async def status(path: str) -> int:
                async with session.get(path) as response:
                    return response.status

            assert (await status("/livez"), await status("/readyz")) == (200, 503)
            health.record_first_list("jobs.batch")
            now = 61.0
            assert (await status("/livez"), await status("/readyz")) == (503, 200)
            health.record_activity("jobs.batch")
            redis[0] = False
            assert (await status("/livez"), await status("/readyz")) == (200, 503), "it can queue no event"
    finally:
        await runner.cleanup()


async def test_a_sink_that_fails_for_long_makes_no_watch_stale() -> None:
    now = 0.0

    def away(_: Sequence[Event]) -> None:
        nonlocal now
        now += 100.0
        if now < 300:
            raise ConnectionError("Redis is away")

    watcher = Watcher(Connection("http://api"), away)
    watcher.health.clock = lambda: now
    watcher.health.expect("subscriptions")
    await watcher.deliver([Event("uid.1.add", "type", "source", kinds.SUBSCRIPTION.ref("a", "olm"))])
    assert (now, watcher.health.stale(), watcher.health.ages()) == (300.0, {}, {"subscriptions": 300.0})


async def test_an_api_server_that_is_away_is_measured_but_makes_no_watch_stale() -> None:
    """A restart would not bring it back, only delay the watch when it is there again."""
    async with (
        an_api(*[Refused(500, "InternalError")] * 4) as (api, connection),
        watching(connection, Sink()) as watcher,
    ):
        watcher.health.clock = lambda: 100.0 * len(api.asked)
        await asyncio.wait_for(api.is_over.wait(), PATIENCE_SECONDS)
        assert watcher.health.ages()["subscriptions.operators.coreos.com"] > watcher.health.bound
        assert watcher.health.stale() == {}


async def test_a_watch_comes_again_when_a_busy_server_wants_it() -> None:
    """Not sooner, and not later and later: of its own it would come after 0.1 s, and after the sixth time after 6 s."""
    busy = [Refused(429, "TooManyRequests", "1")] * 2
    async with an_api(*busy, Listed([A], "5")) as (_, connection):
        loop, sink = asyncio.get_running_loop(), Sink()
        started = loop.time()
        async with watching(connection, sink) as watcher:
            await until(sink, 1)
            assert loop.time() - started > 2
            assert watcher._watches[0]._failures == 0


async def test_who_is_refused_by_an_api_server_that_is_there_does_not_look_alive() -> None:
    """Certificates and tokens are read again when they are rotated; if that did not help, a restart may."""
    async with (
        an_api(*[Refused(401, "Unauthorized")] * 4) as (api, connection),
        watching(connection, Sink()) as watcher,
    ):
        watcher.health.clock = lambda: 100.0 * len(api.asked)
        await asyncio.wait_for(api.is_over.wait(), PATIENCE_SECONDS)
        assert list(watcher.health.stale()) == ["subscriptions.operators.coreos.com"]


async def test_metrics_are_reported_on_the_port_of_the_probes_csv_md_14_1() -> None:
    listening = listener(Settings(kubeconfig="given", port=0))
    async with an_api(Listed([A], "5")) as (_, connection):
        sink = Sink()
        async with watching(connection, sink) as watcher:
            await until(sink, 1)
            runner = await serve_health(watcher.health, listening, watcher.metrics)
            try:
                async with aiohttp.ClientSession(address_of(listening)) as session, session.get("/metrics") as response:
                    output = await response.text()
                    assert "subscription_count 1.0\n" in output
                    assert 'olmf_watch_silence_seconds{kind="subscriptions.operators.coreos.com"} ' in output
                    assert response.content_type == "text/plain"
            finally:
                await runner.cleanup()


async def test_a_watch_is_alive_while_the_server_speaks() -> None:
    async with an_api(Listed([A], "5"), Lines([a_bookmark(6)])) as (api, connection):
        sink = Sink()
        async with watching(connection, sink) as watcher:
            await until(sink, 1)
            await asyncio.wait_for(api.is_over.wait(), PATIENCE_SECONDS)
            assert watcher.health.stale() == {}
            assert watcher.health.complete.is_set()


async def test_what_was_deleted_while_no_watcher_ran_is_asked_for_after_what_exists() -> None:
    """The roles of an OperatorGroup stayed for five minutes: it went while the watcher began anew."""
    sink = Sink(failures=1)
    async with an_api(Listed([A], "5"), Lines([])) as (_, connection), watching(connection, sink) as watcher:
        await watcher.report_start()
    assert [event.type for event in sink.events] == [names.ADDED, names.WATCH_BEGUN]
