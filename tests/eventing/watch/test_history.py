"""What a watch does when the API server has an older state than events told of: it was restored from a backup."""

from __future__ import annotations

import asyncio

import pytest

from eventing.journal import RedisChanges, RedisJournal
from eventing.watch.program import Watcher
from eventing.workqueue import connect
from shared.kinds import SUBSCRIPTION
from tests.eventing.watch.scripted_api import Lines, Listed, Refused, Script, an_api
from tests.eventing.watch.test_watcher import A, Sink, an_object, until, watching
from tests.kit.waiting import PATIENCE_SECONDS


@pytest.mark.parametrize(
    ("now", "lists"),
    [
        pytest.param("3", 2, id="older: it lists anew"),
        pytest.param("5", 1, id="the same: it goes on"),
        pytest.param("12345678901234567890", 1, id="later: it goes on"),
        pytest.param("v-3", 1, id="nobody can say: it goes on"),
    ],
)
async def test_after_an_outage_it_asks_whether_the_server_went_back(now: str, lists: int) -> None:
    script: Script = [
        Listed([A, an_object("b", 5)], "5"),
        Refused(503, "ServiceUnavailable"),
        *[Listed([A], "3")] * (lists - 1),
        Lines(),
    ]
    async with an_api(*script) as (api, connection):
        api.version, api.objects, sink = now, {"b": "2"}, Sink()
        async with watching(connection, sink):
            await asyncio.wait_for(api.is_over.wait(), PATIENCE_SECONDS)
            await until(sink, 1 + lists)
    assert (api.asked_version, len([query for query in api.asked if "watch" not in query])) == (1, lists)
    assert sink.ids == ["uid-a.1.add", "uid-b.5.add", "uid-b.5.delete"][: 1 + lists]


async def test_a_watch_that_ends_as_agreed_asks_nothing() -> None:
    async with an_api(Listed([A], "5"), Lines(end="ends"), Lines()) as (api, connection), watching(connection, Sink()):
        await asyncio.wait_for(api.is_over.wait(), PATIENCE_SECONDS)
        assert api.asked_version == 0


async def test_a_list_older_than_what_other_processes_reported_forgets_it(redis_url: str) -> None:
    """The new process of a watcher knows no position; the audit would believe that later versions were told of."""
    with connect(redis_url) as client:
        journal, changes = RedisJournal(client), RedisChanges(client)
        sink = Sink()
        async with an_api(Listed([an_object("a", 90)], "100")) as (_, connection), watching(connection, sink):
            await until(sink, 1)
        journal.record_events(sink.events)
        changes.wrote(SUBSCRIPTION, "olm")
        async with an_api(Listed([an_object("a", 40)], "50")) as (_, connection):
            watcher = Watcher(connection, sink, kinds=(SUBSCRIPTION,), seconds=60, changes=changes)
            watcher.restored.note()  # an object of another kind has an older version
            task = asyncio.create_task(watcher.run())
            await until(sink, 2)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        ref = sink.events[0].ref
        assert journal.unseen([(ref, "40")]) == (ref,)
        assert changes.counts([(SUBSCRIPTION, ref.namespace)])[0].newest == ""
        journal.record_events(sink.events[1:])
        assert changes.counts([(SUBSCRIPTION, ref.namespace)])[0].newest == "40"
