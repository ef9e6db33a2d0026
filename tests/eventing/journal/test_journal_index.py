"""What is asked of the journal in memory: who wrote what, and which change was whose."""

from __future__ import annotations

import msgspec
import pytest

from eventing.events.event import change_id
from eventing.journal import JournalIndex
from eventing.journal.journal_index import Unrecorded
from eventing.journal.records import Decision, ReceivedEvent, Recorded, Run, Write
from shared import names
from shared.kinds import CONFIG_MAP

ONE, TWO = CONFIG_MAP.ref("one", "ns"), CONFIG_MAP.ref("two", "ns")


def a_run(name: str, at: int, *writes: Write) -> Recorded:
    decision = Decision([], "outcome", writes=list(writes))
    return Recorded(Run(name, "demo/step", str(ONE), at, 1.0, "1", decisions=[decision]), {"b": msgspec.Raw(b"{}")})


def a_write(op: str = "Merge", did: str = "sent", version: str = "") -> Write:
    return Write(op, str(TWO), did=did, uid="u", version=version)


def a_deletion(at: int) -> ReceivedEvent:
    return ReceivedEvent(change_id("u", "9", "delete"), names.DELETED, str(TWO), at)


def test_runs_and_writes_are_found_by_object() -> None:
    index = JournalIndex.of([a_run("first", 1, a_write(version="7")), a_run("second", 2, a_write(did="same"))])
    assert [run.id for run in index.runs_for(ONE)] == ["first", "second"]
    assert [(run.id, write.version) for run, write in index.writes_to(TWO)] == [("first", "7")], "what was sent"
    assert (index.runs_for(TWO), index.writes_to(ONE)) == ((), ())
    assert (index.run("first"), index.run("third")) == (index.runs["first"], None)


def test_a_change_is_ours_by_its_version() -> None:
    index = JournalIndex.of([a_run("first", 1, a_write(version="7"))])
    found = index.writer_of(change_id("u", "7", "update"))
    assert found is not None
    assert found[0].id == "first"
    assert index.writer_of(change_id("u", "8", "update")) is None
    assert index.writer_of("anything else") is None


@pytest.mark.parametrize(
    ("at", "op", "want"),
    [
        pytest.param(5, "Delete", "first", id="we had deleted it"),
        pytest.param(0, "Delete", None, id="it had gone before"),
        pytest.param(5, "Merge", None, id="we had only written it"),
    ],
)
def test_a_deletion_is_ours_by_object_and_time(at: int, op: str, want: str | None) -> None:
    gone = a_deletion(at)
    index = JournalIndex.of([a_run("first", 1, a_write(op)), gone])
    found = index.writer_of(gone.id)
    assert (found and found[0].id) == want
    assert index.event(gone.id) == gone


def test_a_deletion_that_nobody_saw_is_nobodys() -> None:
    assert JournalIndex.of([a_run("first", 1, a_write("Delete"))]).writer_of(a_deletion(5).id) is None


def test_a_body_is_there_or_it_is_reported() -> None:
    index = JournalIndex.of([a_run("first", 1)])
    assert index.body("b") == msgspec.Raw(b"{}")
    with pytest.raises(Unrecorded, match="body c is not in the journal"):
        index.body("c")
