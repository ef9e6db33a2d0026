"""The journal in a real Redis: what was written is read, in order, and bounded in bytes."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from redis import Redis
from redis.client import Pipeline

from eventing.diagnosis.why.explain import why
from eventing.events.event import Event, change_id
from eventing.events.job import Job
from eventing.journal import RUN, STREAM, JournalIndex, ReceivedEvent, Recorded, RedisJournal, Run
from eventing.journal.records import Answer, Decision, Write, pack
from eventing.local.redis_server import RedisServer
from eventing.wiring.worker import runner_factory
from eventing.worker.drainer import Drainer
from eventing.workqueue import REFUSED, WorkQueue, connect
from eventing.workqueue.run_result import RunResult
from shared import names
from shared.config import Settings
from shared.kinds import CONFIG_MAP
from tests.kit.endpoint import NOWHERE

ONE = CONFIG_MAP.ref("one", "olm")


@pytest.fixture
def client(redis_url: str) -> Iterator[Redis]:
    with connect(redis_url) as connected:
        yield connected


def an_event(version: str = "7", *, verb: str = "update", name: str = "one") -> Event:
    ref = CONFIG_MAP.ref(name, "olm")
    return Event(change_id("uid-1", version, verb), names.RESOURCE_EVENT + verb, "https://api", ref, {"phase": "x"})


def a_run(run_id: str = "run-1", text: str = "") -> bytes:
    return pack(Recorded(Run(run_id, "demo/step", str(ONE), 0, 1.0, "0", message=text)))


def test_an_event_is_read_as_it_was_seen(client: Redis) -> None:
    journal = RedisJournal(client)
    journal.record_events([an_event()])
    found = JournalIndex.of(journal.entries()).event("uid-1.7.update")
    assert found is not None
    assert found.event() == an_event()


def test_a_run_is_written_in_the_call_that_ends_it(client: Redis) -> None:
    queue, journal = WorkQueue(client, Settings()), RedisJournal(client)
    queue.add([Job("demo/step", ONE)], "event-1")
    claim = queue.claim(["demo"])
    assert claim is not None
    queue.finish(claim, RunResult("run-1", a_run()))
    assert [run.id for run in JournalIndex.of(journal.entries()).runs_for(ONE)] == ["run-1"]
    assert JournalIndex.of(journal.entries()).run("run-1") == JournalIndex.of(journal.entries()).runs_for(ONE)[0]


@pytest.mark.parametrize(
    ("seen", "asked", "unseen"),
    [
        pytest.param((), "7", True, id="nothing told of it"),
        pytest.param(("7",), "7", False, id="an event told of this version"),
        pytest.param(("9",), "7", False, id="an event told of a later version"),
        pytest.param(("9",), "10", True, id="an event told of an earlier version"),
        pytest.param(("a b",), "a b", False, id="a version with a blank, which is a version"),
    ],
)
def test_the_audit_learns_what_no_event_reported(
    client: Redis, seen: tuple[str, ...], asked: str, unseen: bool
) -> None:
    journal = RedisJournal(client)
    for version in seen:
        journal.record_events([an_event(version)])
    assert journal.unseen([(ONE, asked)]) == ((ONE,) if unseen else ())


def test_a_deleted_object_is_forgotten(client: Redis) -> None:
    journal = RedisJournal(client)
    journal.record_events([an_event("7")])
    journal.record_events([an_event("8", verb="delete")])
    assert journal.unseen([(ONE, "7")]) == (ONE,)


def test_who_is_not_asked_about_for_days_is_forgotten(client: Redis) -> None:
    today = 20_000
    journal = RedisJournal(client, now_ms=lambda: today * 86_400_000)
    refs = [CONFIG_MAP.ref(f"map{number}", "ns") for number in range(2000)]
    journal.record_events(Event(change_id(f"uid{ref.name}", "7", "update"), names.UPDATED, "api", ref) for ref in refs)
    alive = [(ref, "7") for ref in refs[:50]]
    for today in range(20_001, 20_005):
        assert journal.unseen(alive) == ()
        for _ in range(20):
            journal.trim()
        assert client.hlen("olmf:seen") == (2000 if today < 20_004 else 50)
    assert journal.unseen(alive) == ()


def test_an_event_of_another_origin_reports_no_version(client: Redis) -> None:
    journal = RedisJournal(client)
    journal.record_events([Event("a-random-id", names.UPDATED, "knative", ONE)])
    assert journal.unseen([(ONE, "7")]) == (ONE,)


def test_every_process_has_the_same_key(client: Redis) -> None:
    assert RedisJournal(client).secret() == RedisJournal(client).secret()
    assert len(RedisJournal(client).secret()) == 32


def test_the_stream_is_bounded_in_bytes(client: Redis) -> None:
    journal = RedisJournal(client, max_bytes=200_000)
    for number in range(2000):
        client.xadd(STREAM, {RUN: a_run(f"run-{number}", "x" * 400)})
    journal.trim()
    assert (client.memory_usage(STREAM, samples=0) or 0) <= 220_000
    assert JournalIndex.of(journal.entries()).run("run-1999") is not None
    assert JournalIndex.of(journal.entries()).run("run-0") is None


def test_runs_alone_keep_within_the_bound(client: Redis, redis_url: str, tmp_path: Path) -> None:
    """No event comes: the worker trims what its own runs append."""
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(NOWHERE))
    settings = Settings(
        redis_url=redis_url, kubeconfig=str(kubeconfig), content=tmp_path, journal_bytes=100_000, max_failures=10_000
    )
    queue = WorkQueue(client, settings)
    run = runner_factory(settings)(queue)
    for number in range(600):
        queue.add([Job("test/unknown", CONFIG_MAP.ref(f"map-{number}", "ns"))], "event")
    assert Drainer(queue, ("test",), run).drain(linger=0) == 600
    assert (client.memory_usage(STREAM, samples=0) or 0) <= 130_000
    assert queue.ran()[0].count == 600


@pytest.mark.parametrize(
    ("quiet", "number", "size"),
    [
        pytest.param(0, 40, 50_000, id="a few large ones"),
        pytest.param(400, 150, 20_000, id="a quiet hour, then many installs: Redis estimates by the first entries"),
    ],
)
def test_large_entries_are_trimmed_like_many_small_ones(client: Redis, quiet: int, number: int, size: int) -> None:
    journal = RedisJournal(client, max_bytes=1_000_000)
    for each in range(quiet):
        client.xadd(STREAM, {RUN: a_run(f"quiet-{each}", secrets.token_hex(1000))})
    for each in range(number):
        data = a_run(f"run-{each}", secrets.token_hex(size))
        client.xadd(STREAM, {RUN: data})
        journal.grew(len(data))
        assert (client.memory_usage(STREAM, samples=0) or 0) <= 1_200_000
    assert JournalIndex.of(journal.entries()).run(f"run-{number - 1}") is not None


def test_a_program_that_is_ended_does_not_wait_for_redis_again(client: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ends_the_program(_: Pipeline) -> None:
        asked.append("write")
        sys.exit(0)

    journal = RedisJournal(client, max_bytes=1)  # it trims for each entry
    monkeypatch.setattr(client, "execute_command", partial(_noted, asked, client.execute_command))
    monkeypatch.setattr(Pipeline, "execute", ends_the_program)
    with pytest.raises(SystemExit):
        journal.record_events([an_event()])
    assert asked.pop() == "write"
    assert "MEMORY USAGE" in asked


def _noted(asked: list[str], ask: Callable[..., Any], *words: Any) -> Any:
    asked.append(words[0])
    return ask(*words)


def test_a_full_redis_gets_room_from_the_journal(own_redis: RedisServer) -> None:
    """What was written before is larger than the bound: whoever is refused trims it in the end."""
    with connect(own_redis.url) as client:
        journal = RedisJournal(client, max_bytes=1_000_000)
        assert is_taken(journal)
        for number in range(100):
            client.xadd(STREAM, {RUN: a_run(f"run-{number}", secrets.token_hex(25_000))})
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", int(client.info("memory")["used_memory"]) - 500_000)
        attempts = [is_taken(journal) for _ in range(600)]
        assert (attempts[0], attempts[-1]) == (False, True)


def is_taken(journal: RedisJournal) -> bool:
    """Whether the journal takes one more event."""
    try:
        return journal.record_events([an_event()]) is not None
    except REFUSED:
        return False


def test_a_brief_book_answers_why_as_the_whole_one_does(client: Redis) -> None:
    journal = RedisJournal(client)
    answer = Answer("Cluster", "get", ["v1/ConfigMap/ns/one"], body="d1")
    writes = [Write("Create", str(ONE), "d2", "sent", "u1", "8")]
    decision = Decision([answer], "outcome", writes, summary="made it", wait={"what": "a catalog", "since": "then"})
    run = Run("run-1", "a/step", str(ONE), 1, 1.0, "0", causes=["uid-1.7.update"], decisions=[decision], failure="bug")
    client.xadd(STREAM, {RUN: pack(Recorded(run, {"d1": msgspec.Raw(b'{"a":1}')}))})
    journal.record_events([an_event("7")])
    brief, whole = journal.brief_index(), JournalIndex.of(journal.entries())
    assert why(brief, ONE) == why(whole, ONE)
    assert brief.events == whole.events
    assert (brief.bodies, brief.runs["run-1"].decisions[0].answers) == ({}, [])
    assert whole.bodies.keys() == {"d1"}


def test_what_another_version_wrote_hides_nothing(client: Redis) -> None:
    for field, data in ((RUN, b"\x00garbage"), (RUN, b"{}"), ("other", b"x"), (RUN, a_run())):
        client.xadd(STREAM, {field: data})
    assert list(JournalIndex.of(RedisJournal(client).entries()).runs) == ["run-1"]


def test_pages_are_read_to_the_end(client: Redis) -> None:
    journal = RedisJournal(client)
    journal.record_events(an_event(str(number)) for number in range(1201))
    entries = [entry for entry in journal.entries() if isinstance(entry, ReceivedEvent)]
    assert [entry.id for entry in entries] == [f"uid-1.{number}.update" for number in range(1201)]


def test_the_tail_begins_now_and_reports_what_comes(client: Redis) -> None:
    journal = RedisJournal(client)
    journal.record_events([an_event("1")])
    tail = journal.tail(block_ms=10)
    journal.record_events([an_event("2")])
    assert [entry.id for entry in tail if isinstance(entry, ReceivedEvent)] == ["uid-1.2.update"]


def test_the_tail_of_an_empty_journal_waits(client: Redis) -> None:
    assert list(RedisJournal(client).tail(block_ms=10)) == []


class Quiet:
    """A Redis where nothing happens for an hour of waiting, and then one event."""

    def __init__(self) -> None:
        self.waits = 720

    def execute_command(self, *args: object, **_: object) -> object:
        match args[0]:
            case "XREAD":
                self.waits -= 1
                return self.waits == 0
            case "XRANGE" if not self.waits:
                return [(b"1-0", {b"event": pack(ReceivedEvent.of(an_event(), 1))})]
        return []

    def pipeline(self, transaction: bool = True) -> object:
        raise NotImplementedError


def test_a_tail_goes_on_through_a_quiet_hour() -> None:
    """To begin anew after each wait would lose what comes in between."""
    entry = next(RedisJournal(Quiet()).tail())
    assert isinstance(entry, ReceivedEvent)
