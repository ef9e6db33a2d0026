"""A body is stored once, comes again in time, and is bounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from eventing.journal.bodies import MAX_BODY, Bodies
from eventing.journal.call_recorder import PortCall
from eventing.journal.recorder import Recorder
from eventing.journal.records import Run
from eventing.journal.redact import Redactor
from shared.api.manifest import Manifest
from shared.kinds import CONFIG_MAP

REF = CONFIG_MAP.ref("x", "olm")


class Time:
    """Milliseconds that a test moves."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


def a_body(version: str = "7", text: str = "x") -> Manifest:
    return {"metadata": {"uid": "u", "resourceVersion": version}, "data": {"text": text}}


def test_an_equal_body_is_carried_once() -> None:
    bodies = Bodies(Redactor(b"key"), Time())
    first, second = dict[str, msgspec.Raw](), dict[str, msgspec.Raw]()
    digest = bodies.keep(a_body(), first)
    bodies.note_stored(first)
    assert bodies.keep(a_body(), second) == digest
    assert (len(first), len(second)) == (1, 0)


def test_a_body_comes_again_after_a_while() -> None:
    time = Time()
    bodies = Bodies(Redactor(b"key"), time)
    for now, carried in ((0, 1), (29_000, 0), (30_000, 1), (31_000, 0)):
        time.now = now
        fresh: dict[str, msgspec.Raw] = {}
        bodies.keep(a_body(), fresh, is_answer=True)
        assert len(fresh) == carried
        bodies.note_stored(fresh)


@pytest.mark.parametrize("is_answer", [True, False])
def test_a_body_comes_again_when_records_may_be_lost(is_answer: bool) -> None:
    bodies = Bodies(Redactor(b"key"), Time())
    lost, again = dict[str, msgspec.Raw](), dict[str, msgspec.Raw]()
    bodies.keep(a_body(), lost, is_answer=is_answer)
    bodies.note_stored(lost)
    bodies.forget()
    bodies.keep(a_body(), again, is_answer=is_answer)
    assert again == lost != {}


@pytest.mark.parametrize("is_answer", [True, False])
def test_until_a_record_is_stored_every_other_one_carries_its_bodies_too(is_answer: bool) -> None:
    bodies = Bodies(Redactor(b"key"), Time())
    lost, again = dict[str, msgspec.Raw](), dict[str, msgspec.Raw]()
    bodies.keep(a_body(), lost, is_answer=is_answer)
    bodies.keep(a_body(), again, is_answer=is_answer)
    assert again == lost != {}


def test_an_answer_is_recognised_by_its_version() -> None:
    bodies, fresh = Bodies(Redactor(b"key"), Time()), dict[str, Any]()
    one = bodies.keep(a_body("7"), fresh, is_answer=True)
    assert bodies.keep(a_body("7"), fresh, is_answer=True) == one
    assert bodies.keep(a_body("8"), fresh, is_answer=True) != one


def test_a_write_is_never_taken_for_the_object_that_was_read() -> None:
    bodies, fresh = Bodies(Redactor(b"key"), Time()), dict[str, Any]()
    read = bodies.keep(a_body(text="old"), fresh, is_answer=True)
    assert bodies.keep(a_body(text="new"), fresh) != read


def test_a_body_that_is_too_long_is_only_named() -> None:
    bodies, fresh = Bodies(Redactor(b"key"), Time()), dict[str, Any]()
    assert bodies.keep(a_body(text="x" * MAX_BODY), fresh)
    assert fresh == {}


@dataclass(frozen=True)
class Big:
    """A frozen answer."""

    text: str


def test_the_same_frozen_value_is_looked_at_once_and_an_equal_one_has_its_digest() -> None:
    bodies, fresh = Bodies(Redactor(b"key"), Time()), dict[str, Any]()
    big = Big("x" * 100)
    digests = {bodies.keep(value, fresh, is_answer=True) for value in (big, big, Big("x" * 100))}
    assert len(digests) == len(fresh) == 1
    assert bodies.keep(Big("y"), fresh, is_answer=True) not in digests


def test_only_the_last_values_are_held() -> None:
    bodies, fresh = Bodies(Redactor(b"key"), Time()), dict[str, Any]()
    digests = {bodies.keep(Big(str(number)), fresh, is_answer=True) for number in range(500)}
    assert len(digests) == 500
    assert len(bodies._values) < 100


def test_threads_carry_a_body_once_between_them() -> None:
    first = Recorder(b"key", lambda: 0)
    carried = []
    for recorder in (first, first.also_to(lambda _: None)):
        fresh = dict[str, Any]()
        recorder.calls(fresh).note(PortCall("Cluster", "get", (REF,), {}), a_body())
        recorder.record(Run("run", "demo/step", str(REF), 0, 1.0, "0"), fresh)
        carried.append(len(fresh))
    assert carried == [1, 0]


def test_what_no_encoder_takes_is_kept_nevertheless() -> None:
    """A write that was not sent may hold it; the others of its run are done."""
    bodies = Bodies(Redactor(b"key"), Time())
    fresh: dict[str, msgspec.Raw] = {}
    halved = bodies.keep(a_body(text="a\ud800b"), fresh)
    assert msgspec.json.decode(fresh[halved])["data"] == {"text": "a?b"}
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    assert bytes(fresh[bodies.keep({"data": deep}, fresh)]).startswith(b'"redacted:')
