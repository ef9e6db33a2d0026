"""What events deliver while the audit asks, or while old versions are removed, in a real Redis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from redis import Redis

from eventing.events.event import Event, change_id
from eventing.journal import RedisJournal
from eventing.journal.delivered_versions import KEEP_DAYS, VERSIONS, DeliveredVersions
from eventing.workqueue import connect
from shared import names
from shared.kinds import CONFIG_MAP

ONE = CONFIG_MAP.ref("one", "olm")
TODAY = 20_000
_DAY_SECONDS = 86_400


@pytest.fixture
def client(redis_url: str) -> Iterator[Redis]:
    with connect(redis_url) as connected:
        yield connected


class Interrupted:
    """A client to which something happens after its first command."""

    def __init__(self, client: Any, meanwhile: Callable[[], object]) -> None:
        self._client = client
        self._events = [meanwhile]

    def execute_command(self, *words: Any) -> Any:
        answer = self._client.execute_command(*words)
        while self._events:
            self._events.pop()()
        return answer


def delivered(client: Redis, version: str, verb: str = "update", *, day: int = TODAY) -> None:
    event = Event(change_id("uid-1", version, verb), names.RESOURCE_EVENT + verb, "https://api", ONE)
    RedisJournal(client, now_ms=lambda: day * _DAY_SECONDS * 1000).record_events([event])


def versions(client: Any, day: int = TODAY) -> DeliveredVersions:
    return DeliveredVersions(client, lambda: day * _DAY_SECONDS)


@pytest.mark.parametrize(
    ("version", "verb", "kept"),
    [
        pytest.param("8", "update", {str(ONE).encode(): b"8 20000"}, id="a change"),
        pytest.param("8", "delete", {}, id="a deletion"),
    ],
)
def test_an_event_that_comes_while_the_audit_asks_is_not_undone(
    client: Redis, version: str, verb: str, kept: dict[bytes, bytes]
) -> None:
    delivered(client, "7", day=TODAY - 1)
    asking = versions(Interrupted(client, lambda: delivered(client, version, verb)))
    assert asking.lacks([(ONE, "7")]) == ()
    assert client.hgetall(VERSIONS) == kept


def test_what_the_audit_asked_about_is_kept_from_that_day_on(client: Redis) -> None:
    delivered(client, "7", day=TODAY - 1)
    assert versions(client).lacks([(ONE, "7")]) == ()
    assert client.hgetall(VERSIONS) == {str(ONE).encode(): b"7 20000"}


def test_an_event_that_comes_while_old_versions_are_removed_is_kept(client: Redis) -> None:
    delivered(client, "7", day=TODAY - KEEP_DAYS - 1)
    versions(Interrupted(client, lambda: delivered(client, "8"))).forget()
    assert client.hgetall(VERSIONS) == {str(ONE).encode(): b"8 20000"}
