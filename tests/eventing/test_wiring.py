"""What is put together fits."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eventing.events.event import Event
from eventing.events.predicates import needs_no_repetition
from eventing.journal import read_files
from eventing.wiring import waking
from eventing.wiring.intake import sink
from eventing.wiring.waking import Waking
from eventing.workqueue import QueueFull, WorkQueue, connect
from shared import names
from shared.config import Settings
from shared.kinds import CLUSTER_SERVICE_VERSION, NAMESPACE


def test_the_journal_is_kept_in_files_where_that_is_wished(redis_url: str, tmp_path: Path) -> None:
    event = Event("event-1", names.ADDED, "test", NAMESPACE.ref("team-a"))
    for settings in (Settings(redis_url=redis_url), Settings(redis_url=redis_url, journal_files=str(tmp_path))):
        sink(settings)([event])
    assert [getattr(entry, "id", "") for entry in read_files(tmp_path)] == ["event-1"]


@pytest.mark.parametrize(
    ("event", "again"),
    [
        pytest.param(Event("u.7.add", names.ADDED, "test", NAMESPACE.ref("team-a")), 0, id="a namespace"),
        pytest.param(
            Event("u.7.delete", names.DELETED, "test", NAMESPACE.ref("team-a")), 1, id="a namespace that is gone"
        ),
        pytest.param(
            Event("u.7.add", names.ADDED, "test", CLUSTER_SERVICE_VERSION.ref("a.v1", "ns"), {"copied": "true"}),
            0,
            id="a copy",
        ),
        pytest.param(
            Event("u.7.add", names.ADDED, "test", CLUSTER_SERVICE_VERSION.ref("a.v1", "ns"), {"copied": "false"}),
            1,
            id="an original: something of it may have gone meanwhile",
        ),
        pytest.param(Event("random", names.ADDED, "test", NAMESPACE.ref("team-a")), 1, id="of no version"),
    ],
)
def test_a_watcher_that_starts_enqueues_what_may_have_been_missed(redis_url: str, event: Event, again: int) -> None:
    client = connect(redis_url)
    client.flushall()
    found = []
    for _ in range(2):
        sink(Settings(redis_url=redis_url), needs_no_repetition=needs_no_repetition)([event])
        found.append(len(client.keys("olmf:job:*")))
        client.delete("none", *client.keys("olmf:job:*"), *client.keys("olmf:ready:*"), *client.keys("olmf:order:*"))
    assert (found[0] > 0, found[1]) == (True, again * found[0])


def test_an_event_that_redis_refused_adds_its_jobs_when_it_comes_again(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others that come in between change nothing."""
    client, refused, other = (
        connect(redis_url),
        Event("u.7.add", names.ADDED, "t", NAMESPACE.ref("a")),
        NAMESPACE.ref("b"),
    )
    client.flushall()
    accept = sink(Settings(redis_url=redis_url), needs_no_repetition=needs_no_repetition)
    with monkeypatch.context() as patch:
        patch.setattr(WorkQueue, "add_each", raising(ConnectionError("reset")))
        with pytest.raises(ConnectionError):
            accept([refused])
    accept([Event("v.8.add", names.ADDED, "t", other)])
    accept([refused])
    assert client.exists(*(f"olmf:job:fanout/notify_dependents|v1/Namespace//{name}" for name in "ab")) == 2


def test_of_events_that_are_refused_nothing_is_kept(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may post events to an endpoint could fill its memory."""

    def refuse(*_: object, **__: object) -> None:
        raise QueueFull("ns")

    accept = sink(Settings(redis_url=redis_url), most=1)
    monkeypatch.setattr(WorkQueue, "add_each", refuse)
    ref = CLUSTER_SERVICE_VERSION.ref("a.v1", "ns")

    def refused(batch: int) -> None:
        with pytest.raises(QueueFull):
            accept([Event(f"{batch}.{number}.{'x' * 1000}", names.UPDATED, "test", ref) for number in range(1000)])

    refused(0)
    tracemalloc.start()
    for batch in range(1, 4):
        refused(batch)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 1_000_000


def raising(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def test_a_wake_up_carries_the_first_token_of_the_file_as_it_is_now(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Event] = []

    def send(_: str, event: Event, *__: Any, **___: Any) -> None:
        sent.append(event)

    monkeypatch.setattr(waking, "send", send)
    file = tmp_path / "tokens"
    of_file = Waking(Settings(redis_url=redis_url, broker="http://b", endpoint_token_file=str(file)), lambda *_: None)
    for tokens in ("one\n", "two\none\n"):
        file.write_text(tokens)
        of_file._send("fanout")
    assert [one.hints[names.KNOWN_BY] for one in sent] == ["one", "two"]
    file.write_text("\n")
    with pytest.raises(OSError, match=r"OLMF_ENDPOINT_TOKEN_FILE: .*tokens has no token"):
        of_file._send("fanout")
    Waking(Settings(redis_url=redis_url, broker="http://b"), lambda *_: None)._send("fanout")
    assert names.KNOWN_BY not in sent[-1].hints, "where nobody wants one there is none"
