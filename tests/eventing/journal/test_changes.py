"""The sums of what events have told of."""

from __future__ import annotations

from eventing.events import Event, change_id
from eventing.journal import RedisChanges, RedisJournal
from eventing.workqueue import connect
from shared import names
from shared.adapters.kube import Told
from shared.kinds import NAMESPACE, SUBSCRIPTION

REF = SUBSCRIPTION.ref("etcd", "ns")


def an_event(version: str = "", verb: str = "update") -> Event:
    identity = change_id("uid", version, verb) if version else "some-uuid"
    return Event(id=identity, type=f"{names.RESOURCE_EVENT}{verb}", source="test", ref=REF)


def test_changes_are_summed_in_their_namespace_and_over_all(redis_url: str) -> None:
    with connect(redis_url) as client:
        journal, changes = RedisJournal(client), RedisChanges(client)
        assert changes.told(SUBSCRIPTION, "ns") == Told(0, 0)
        journal.saw([an_event("7"), an_event("9")])
        assert changes.told(SUBSCRIPTION, "ns") == Told(16, 9)
        assert changes.told(SUBSCRIPTION, "") == Told(16, 9)
        assert changes.told(SUBSCRIPTION, "other") == Told(0, 0)


def test_an_event_that_names_no_version_spoils_the_sum(redis_url: str) -> None:
    with connect(redis_url) as client:
        journal, changes = RedisJournal(client), RedisChanges(client)
        journal.saw([an_event("7")])
        before = changes.told(SUBSCRIPTION, "ns")
        journal.saw([an_event()])
        assert changes.told(SUBSCRIPTION, "ns") != before


def test_a_write_is_counted_in_its_namespace_and_over_all(redis_url: str) -> None:
    with connect(redis_url) as client:
        changes = RedisChanges(client)
        changes.wrote(SUBSCRIPTION, "ns")
        assert [changes.told(SUBSCRIPTION, place).writes for place in ("ns", "", "other")] == [1, 1, 0]
        changes.wrote(NAMESPACE, "")
        assert changes.told(NAMESPACE, "").writes == 1


def test_what_rests_for_a_day_is_forgotten(redis_url: str) -> None:
    with connect(redis_url) as client:
        RedisJournal(client).saw([an_event("7")])
        RedisChanges(client).wrote(SUBSCRIPTION, "other")
        keys = client.keys("olmf:changes:*")
        assert len(keys) == 3
        for key in keys:
            assert 86_000 < client.ttl(key) <= 86_400, "whoever read at that sum has long forgotten it"
