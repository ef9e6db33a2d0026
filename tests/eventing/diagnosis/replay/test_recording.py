"""A capture tells what others did, from what was there before the first event on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from eventing.diagnosis.replay.archive import Capture
from eventing.diagnosis.replay.recording import Change, Recording
from eventing.events.event import Event
from eventing.journal import JournalIndex, ReceivedEvent, Run
from eventing.journal.records import Answer, Decision, Recorded, Write
from shared import names
from shared.api.manifest import Manifest
from shared.kinds import CATALOG_SOURCE, DEPLOYMENT, SERVICE, SUBSCRIPTION, Kind, Ref

SUB, SERVED, DEPLOY = (kind.ref("one", "olm") for kind in (SUBSCRIPTION, SERVICE, DEPLOYMENT))


def an_object(kind: Kind, version: str = "", **more: Any) -> Manifest:
    meta = {"name": "one", "namespace": "olm", **({"uid": "u", "resourceVersion": version} if version else {})}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **more}


def a_recording(
    *,
    read: tuple[Manifest, ...] = (),
    wrote: tuple[Write, ...] = (),
    saw: tuple[tuple[Ref, str], ...] = (),
    seen_at: int = 10,
) -> Recording:
    """What one run read and wrote, and the events (ref, `version.verb`) before it, or later."""
    index = JournalIndex()
    for ref, change in saw:
        event = Event(f"u.{change}", names.RESOURCE_EVENT + change.partition(".")[2], "api", ref)
        index.add(ReceivedEvent.of(event, seen_at))
    answers = []
    for number, manifest in enumerate(read):
        index.bodies[str(number)] = msgspec.Raw(msgspec.json.encode(manifest))
        answers.append(Answer("Cluster", "get", [str(Ref.of(manifest))], body=str(number)))
    run = Run("run", "a/b", str(SUB), 20, 1.0, "0", decisions=[Decision(answers, "outcome", list(wrote))])
    for write in wrote:
        if write.op == "Create":
            index.bodies[write.body] = msgspec.Raw(msgspec.json.encode({"manifest": an_object(SERVICE)}))
    index.add(Recorded(run))
    return Recording(Capture(index))


def changes(recording: Recording) -> list[Change]:
    return list(recording.changes())


def test_what_was_there_before_its_first_event_is_there_from_the_beginning() -> None:
    first = an_object(SUBSCRIPTION, "5")
    (change,) = changes(a_recording(read=(first,)))
    assert (change.event.type, change.after, change.is_answer) == (names.ADDED, first, False)


def test_an_object_whose_first_event_reports_our_own_write_was_there_before() -> None:
    first = an_object(SUBSCRIPTION, "5")
    wrote = Write("SetStatus", str(SUB), did="sent", uid="u", version="6")
    recording = a_recording(read=(first,), wrote=(wrote,), saw=((SUB, "6.add"),))
    assert changes(recording)[0].after == first


def test_what_others_do_to_an_object_that_we_made_is_an_answer() -> None:
    ready = an_object(DEPLOYMENT, "7", status={"available": True})
    wrote = Write("Create", str(DEPLOY), "body", did="sent", uid="u", version="6")
    recording = a_recording(read=(ready,), wrote=(wrote,), saw=((DEPLOY, "6.add"), (DEPLOY, "7.update")))
    assert [(change.after, change.is_answer) for change in changes(recording)] == [(ready, True)]


def test_what_was_written_into_an_object_that_nobody_watches_is_known_because_a_step_read_it() -> None:
    filled = an_object(SERVICE, "7", data={"a": "b"})
    wrote = Write("Create", str(SERVED), "body", did="sent", uid="u", version="6")
    (change,) = changes(a_recording(read=(filled,), wrote=(wrote,)))
    assert (change.before, change.after, change.is_answer) == (an_object(SERVICE), filled, True)


def test_a_version_with_a_write_of_ours_in_between_is_not_what_was_there_before() -> None:
    read = (an_object(DEPLOYMENT, "5"), an_object(DEPLOYMENT, "9"))
    saw = ((DEPLOY, "4.add"), (DEPLOY, "9.update"))
    ours = Write("Merge", str(DEPLOY), did="sent", uid="u", version="8")
    reported = Write("SetStatus", str(DEPLOY), did="sent", uid="u", version="8")
    assert changes(a_recording(read=read, saw=saw, wrote=(ours,)))[-1].before is None
    assert changes(a_recording(read=read, saw=saw, wrote=(reported,)))[-1].before == read[0]


def a_dying(version: str) -> Manifest:
    alive = an_object(SUBSCRIPTION, version)
    return {**alive, "metadata": {**alive["metadata"], "deletionTimestamp": "2026-11-30T10:00:00Z"}}


def test_the_change_that_begins_the_end_of_an_object_is_a_deletion_by_somebody() -> None:
    read = an_object(SUBSCRIPTION, "5"), a_dying("6"), a_dying("7")
    found = changes(a_recording(read=read, saw=((SUB, "6.update"), (SUB, "7.update")), seen_at=30))
    assert [change.is_deletion for change in found] == [False, True, False]


def test_what_is_being_deleted_from_the_beginning_is_so_again() -> None:
    assert [change.is_deletion for change in changes(a_recording(read=(a_dying("6"),)))] == [True]


def test_a_deletion_that_we_asked_for_is_left_to_our_steps() -> None:
    read, saw = (an_object(SUBSCRIPTION, "5"), a_dying("6")), ((SUB, "6.update"),)
    wrote = (Write("Delete", str(SUB), did="sent"),)
    found = changes(a_recording(read=read, saw=saw, wrote=wrote, seen_at=30))
    assert [change.is_deletion for change in found] == [False, False]


@pytest.mark.parametrize(
    ("older", "later"),
    [
        pytest.param("9", "10", id="one digit more"),
        pytest.param("9" * 5000, "1" + "0" * 5000, id="thousands of digits"),
        pytest.param("17000000000000000009", "17000000000000000010", id="versions that look like times"),
    ],
)
def test_versions_of_one_object_have_an_order_at_any_length(older: str, later: str) -> None:
    read = (an_object(SUBSCRIPTION, later), an_object(SUBSCRIPTION, older))
    found = {change.event.type: change for change in changes(a_recording(read=read, saw=((SUB, f"{later}.update"),)))}
    first, change = found[names.ADDED], found[names.UPDATED]
    assert (first.after, change.before, change.after) == (read[1], read[1], read[0])
    assert a_recording(read=read).final() == {SUB: read[0]}


@pytest.mark.parametrize("version", ["", "abc", "٣", "-7", "1e3"], ids=repr)
def test_a_version_that_is_no_number_is_no_reason_to_fail(version: str) -> None:
    """A server behind the API server may have any."""
    wrote = Write("Apply", str(SUB), did="sent", uid="another", version=version)
    recording = a_recording(read=(an_object(SUBSCRIPTION, version),), wrote=(wrote,), saw=((SUB, f"{version}.update"),))
    assert [change.event.type for change in changes(recording)] == [names.UPDATED]
    assert recording.final() == {}


def test_of_two_objects_with_one_name_the_later_one_is_left() -> None:
    old, new = an_object(SUBSCRIPTION, "9"), an_object(SUBSCRIPTION, "10")
    old["metadata"]["uid"] = "v"
    assert a_recording(read=(new, old)).final() == a_recording(read=(old, new)).final() == {SUB: new}


def test_what_no_event_reports_had_happened_when_the_run_that_read_it_began() -> None:
    """Versions of different kinds have no order, so the time decides where it belongs."""
    filled = an_object(SERVICE, "7", data={"a": "b"})
    wrote = Write("Create", str(SERVED), "body", did="sent", uid="u", version="6")
    other = Event("w.3.update", names.UPDATED, "api", SUB)
    recording = a_recording(read=(filled,), wrote=(wrote,))
    for at in (15, 25):
        recording.index.add(ReceivedEvent.of(replace(other, id=f"w.{at}.update"), at))
    assert [change.event.id for change in changes(recording)] == ["w.15.update", "u.7.update", "w.25.update"]


def test_a_catalog_image_that_changed_is_a_resync_request_of_whoever_read_it() -> None:
    source = CATALOG_SOURCE.ref("one", "olm")
    index = JournalIndex()
    for at, digest in ((20, "a"), (30, "a"), (40, "b"), (50, "b")):
        pulled = Answer("Catalogs", "pull", ["image"], value={"reference": digest})
        asked = Answer("Cluster", "list", [str(at)], value=[])
        decision = Decision([pulled, asked], "outcome", [])
        index.add(Recorded(Run(f"run{at}", "a/b", str(source), at, 1.0, "0", decisions=[decision])))
    (change,) = changes(Recording(Capture(index)))
    assert (change.event.type, change.event.ref, change.at, change.after) == (names.RESYNC_REQUESTED, source, 40, None)
