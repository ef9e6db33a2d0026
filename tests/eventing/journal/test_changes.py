"""The sums of what events have told of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eventing.events.event import Event, change_id
from eventing.journal import RedisChanges, RedisJournal
from eventing.workqueue import connect
from shared import names
from shared.adapters.kube import ChangeCounts
from shared.adapters.kube.answers import MODULUS
from shared.kinds import CUSTOM_RESOURCE_DEFINITION, NAMESPACE, SUBSCRIPTION, Kind
from shared.resource_versions import weight

REF = SUBSCRIPTION.ref("etcd", "ns")


def counts(changes: RedisChanges, kind: Kind, namespace: str) -> ChangeCounts:
    (found,) = changes.counts([(kind, namespace)])
    return found


def an_event(version: str = "", verb: str = "update") -> Event:
    identity = change_id("uid", version, verb) if version else "some-uuid"
    return Event(id=identity, type=f"{names.RESOURCE_EVENT}{verb}", source="test", ref=REF)


def test_changes_are_summed_in_their_namespace_and_over_all(redis_url: str) -> None:
    with connect(redis_url) as client:
        journal, changes = RedisJournal(client), RedisChanges(client)
        assert counts(changes, SUBSCRIPTION, "ns") == ChangeCounts()
        journal.record_events([an_event("7"), an_event("9")])
        assert counts(changes, SUBSCRIPTION, "ns") == ChangeCounts(weight("7") + weight("9"), "9")
        assert counts(changes, SUBSCRIPTION, "") == counts(changes, SUBSCRIPTION, "ns")
        assert counts(changes, SUBSCRIPTION, "other") == ChangeCounts()


def test_those_of_definitions_are_summed_in_their_api_group(redis_url: str) -> None:
    ref = CUSTOM_RESOURCE_DEFINITION.ref("things.example.com")
    with connect(redis_url) as client:
        journal, changes = RedisJournal(client), RedisChanges(client)
        journal.record_events([replace(an_event("7"), ref=ref)])
        for place in ("example.com", ""):
            assert counts(changes, CUSTOM_RESOURCE_DEFINITION, place) == ChangeCounts(weight("7"), "7")
        assert counts(changes, CUSTOM_RESOURCE_DEFINITION, "other.example.com") == ChangeCounts()


@pytest.mark.parametrize(
    ("versions", "newest"),
    [
        pytest.param([f"175364754704001500{n}" for n in range(9)], "1753647547040015008", id="times in nanoseconds"),
        pytest.param([f"9999999999999999999{n}" for n in range(9)], "99999999999999999998", id="20 digits"),
        pytest.param(["9" * 30, "1" + "0" * 30], "1" + "0" * 30, id="30 digits, and one more"),
        pytest.param(["b-7", "a-9"], "", id="versions without an order"),
        pytest.param(["²", "٣"], "", id="digits that no number has"),
        pytest.param(["7", "x"], "7", id="a number and another text"),
    ],
)
def test_versions_are_opaque(redis_url: str, versions: list[str], newest: str) -> None:
    with connect(redis_url) as client:
        journal, changes = RedisJournal(client), RedisChanges(client)
        for version in versions:
            journal.record_events([an_event(version)])
        assert counts(changes, SUBSCRIPTION, "ns") == ChangeCounts(sum(map(weight, versions)) % MODULUS, newest)
        assert journal.unseen([(REF, versions[-1])]) == ()
        assert journal.unseen([(REF, "8" * 40)]) == (REF,)


@pytest.mark.parametrize("verb", ["add", "update", "delete"])
@pytest.mark.parametrize("version", ["12345678901234567890", "v-1"])
def test_an_event_that_is_delivered_again_is_no_further_change(redis_url: str, version: str, verb: str) -> None:
    with connect(redis_url) as client:
        journal, changes = RedisJournal(client), RedisChanges(client)
        for _ in range(8):
            journal.record_events([an_event(version, verb)])
        assert counts(changes, SUBSCRIPTION, "ns").total == weight(version, is_gone=verb == "delete")


def test_a_deletion_is_another_change_than_the_version_that_was_seen_last(redis_url: str) -> None:
    """What was read at that version must not count as told of, and so as current."""
    with connect(redis_url) as client:
        journal, changes = RedisJournal(client), RedisChanges(client)
        journal.record_events([an_event("7", "delete")])
        assert counts(changes, SUBSCRIPTION, "ns").total != weight("7")


def test_an_event_that_comes_late_is_no_further_change(redis_url: str) -> None:
    with connect(redis_url) as client:
        journal, changes = RedisJournal(client), RedisChanges(client)
        journal.record_events([an_event("9"), an_event("10"), an_event("9")])
        assert counts(changes, SUBSCRIPTION, "ns") == ChangeCounts(weight("9") + weight("10"), "10")
        assert journal.unseen([(REF, "10")]) == ()


def test_the_sum_stays_exact_for_ever(redis_url: str) -> None:
    with connect(redis_url) as client:
        journal, changes = RedisJournal(client), RedisChanges(client)
        client.hset(f"olmf:changes:{SUBSCRIPTION.api_version}/Subscription/ns", "sum", MODULUS - 1)
        journal.record_events([an_event("7")])
        assert counts(changes, SUBSCRIPTION, "ns").total == weight("7") - 1


def test_an_event_that_names_no_version_spoils_the_sum(redis_url: str) -> None:
    with connect(redis_url) as client:
        journal, changes = RedisJournal(client), RedisChanges(client)
        journal.record_events([an_event("7")])
        before = counts(changes, SUBSCRIPTION, "ns")
        journal.record_events([an_event()])
        assert counts(changes, SUBSCRIPTION, "ns") != before


def test_a_write_is_counted_in_its_namespace_and_over_all(redis_url: str) -> None:
    with connect(redis_url) as client:
        changes, other = RedisChanges(client, "one"), RedisChanges(client, "other")
        other.wrote(SUBSCRIPTION, "ns")
        assert [counts(changes, SUBSCRIPTION, place).writes for place in ("ns", "", "other")] == [1, 1, 0]
        assert counts(other, SUBSCRIPTION, "ns").writes == 0, "it knows its own"
        other.wrote(NAMESPACE, "")
        assert counts(changes, NAMESPACE, "").writes == 1


def test_what_was_reported_one_kind_is_forgotten(redis_url: str) -> None:
    with connect(redis_url) as client:
        journal, changes = RedisJournal(client), RedisChanges(client)
        other = NAMESPACE.ref("ns")
        journal.record_events([an_event("7"), replace(an_event("8"), ref=other)])
        changes.forget(SUBSCRIPTION)
        assert counts(changes, SUBSCRIPTION, "ns") == ChangeCounts()
        first = counts(changes, SUBSCRIPTION, "")
        assert first == ChangeCounts(restored=first.restored)
        changes.forget(SUBSCRIPTION)
        assert counts(changes, SUBSCRIPTION, "").restored not in ("", first.restored), "workers tell the times apart"
        assert counts(changes, NAMESPACE, "").newest == "8"
        assert journal.unseen([(REF, "7"), (other, "8")]) == (REF,)


def test_what_is_gone_since_a_restore_has_a_version_of_before(redis_url: str) -> None:
    """What existed then, and does not exist in the backup, is told as deleted, with the last version that it had."""
    with connect(redis_url) as client:
        journal, changes = RedisJournal(client), RedisChanges(client)
        journal.record_events([an_event("7"), replace(an_event("900"), ref=SUBSCRIPTION.ref("gone", "ns"))])
        changes.forget(SUBSCRIPTION)
        deletion = replace(an_event("900", "delete"), ref=SUBSCRIPTION.ref("gone", "ns"))
        journal.record_events([an_event("7"), deletion])
        assert [counts(changes, SUBSCRIPTION, place).newest for place in ("ns", "")] == ["7", "7"]
        assert counts(changes, SUBSCRIPTION, "ns").total == weight("7") + weight("900", is_gone=True), "it is a change"
        journal.record_events([an_event("8"), an_event("9", "delete")])
        assert counts(changes, SUBSCRIPTION, "ns").newest == "9", "lists without it are newer"


def test_what_rests_for_a_day_is_forgotten(redis_url: str) -> None:
    with connect(redis_url) as client:
        RedisJournal(client).record_events([an_event("7")])
        RedisChanges(client).wrote(SUBSCRIPTION, "other")
        keys = client.keys("olmf:changes:*")
        assert len(keys) == 3
        for key in keys:
            assert 86_000 < client.ttl(key) <= 86_400, "whoever read at that sum has long forgotten it"
