"""A capture holds what is watched and all that we wrote, and a journal of any size fits into little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from eventing.diagnosis.replay import capture, open_capture, present_objects
from eventing.journal import ReceivedEvent, Recorded, Run
from eventing.journal.bodies import Bodies
from eventing.journal.records import Answer, Decision, Write
from eventing.journal.redact import Redactor
from shared import names
from shared.api.manifest import Manifest
from shared.kinds import NAMESPACE, SERVICE, SUBSCRIPTION, Kind, Ref
from tests.eventing.effects.fake_api import FakeApi

SUB, SERVED = SUBSCRIPTION.ref("one", "olm"), SERVICE.ref("one", "olm")
RUNS, BODY, FRACTION = 400, 50_000, 10


def an_object(kind: Kind, name: str = "one") -> Manifest:
    meta = {"name": name} if kind is NAMESPACE else {"name": name, "namespace": "olm"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}


def a_run(name: str, decision: Decision, at: int = 20) -> Run:
    return Run(name, "a/b", str(SUB), at, 1.0, "0", decisions=[decision])


def test_it_holds_the_kinds_that_enqueue_us_and_whatever_else_we_wrote(tmp_path: Path) -> None:
    objects = [an_object(NAMESPACE), an_object(SUBSCRIPTION), an_object(SERVICE), an_object(SERVICE, "another")]
    writes = [
        Write("Create", str(SERVED), did="sent", uid="u", version="1"),
        Write("Create", str(SERVICE.ref("gone", "olm")), did="sent", uid="v", version="2"),
        Write("Create", str(SERVICE.ref("another", "olm")), did="exists"),
        Write("Merge", str(SUB), did="sent", uid="w", version="3"),
    ]

    def present(written: Iterable[str]) -> Iterator[Manifest]:
        return present_objects(FakeApi(objects), written)

    run = a_run("run", Decision([], "outcome", writes))
    path = tmp_path / "capture.tar"
    assert capture([Recorded(run)], path, present) == 1
    found = [Ref.of(manifest) for manifest in open_capture(path).objects]
    assert found == [SUB, NAMESPACE.ref("one"), SERVED], "Subscriptions first: the passwords they give are then known"


def test_it_holds_each_body_once_that_its_runs_name_wherever_it_was_stored(tmp_path: Path) -> None:
    named = Decision([Answer("Cluster", "get", body="b")], "outcome")
    early, late = a_run("early", named, 10), a_run("late", named, 30)
    bodies = {name: msgspec.Raw(b'"%s"' % name.encode()) for name in ("a", "b")}
    event = ReceivedEvent("1", names.ADDED, str(SUB), 10)
    path = tmp_path / "capture.tar"
    again: list[Recorded | ReceivedEvent] = [
        Recorded(early, bodies),
        event,
        Recorded(late, bodies),
        Recorded(late, bodies),
    ]
    assert capture(again, path, since_ms=20) == 1
    index = open_capture(path).index
    assert (list(index.runs), list(index.bodies), index.events) == (["late"], ["b"], {})
    assert path.read_bytes().count(b'{"b":') == 1


def entries() -> Iterator[Recorded]:
    for number in range(RUNS):
        run = a_run(f"run-{number}", Decision([Answer("Cluster", "get", body=str(number))], "outcome"))
        yield Recorded(run, {str(number): msgspec.Raw(b'"%s"' % (b"x" * BODY))})


def test_it_takes_a_fraction_of_the_memory_of_its_journal(tmp_path: Path) -> None:
    path = tmp_path / "capture.tar"
    tracemalloc.start()
    try:
        assert capture(entries(), path) == RUNS
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > RUNS * BODY
    assert most < RUNS * BODY / FRACTION


GIVEN = "typed-9Lm3"


def with_environment(manifest: Manifest) -> Manifest:
    env = [{"name": "HARMLESS", "value": GIVEN}]
    return {**manifest, "spec": {"config": {"env": env}}}


def test_a_secret_value_is_one_word_in_journal_and_objects_and_another_in_the_next_capture(tmp_path: Path) -> None:
    given = with_environment(an_object(SUBSCRIPTION))
    run = a_run("run", Decision([Answer("Cluster", "get", body="b")], "outcome"))
    kept = msgspec.Raw(Bodies(Redactor(b"journal"), lambda: 0).raw(given))

    def words(name: str) -> list[str]:
        capture([Recorded(run, {"b": kept})], tmp_path / name, lambda _: [given], key=b"journal")
        found = open_capture(tmp_path / name)
        both = msgspec.json.decode(found.index.bodies["b"]), *found.objects
        return [one["spec"]["config"]["env"][0]["value"] for one in both]

    journal, present = words("one.tar")
    assert journal == present
    assert len({GIVEN, Redactor(b"journal").stand_in(GIVEN), journal, *words("two.tar")}) == 4
