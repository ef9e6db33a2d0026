"""Secret data never reaches the journal, wherever the Secret hides."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventing.effects import Effects
from eventing.journal import Recorder, Run
from eventing.journal.outcomes import Decided
from eventing.journal.records import unpack_run
from eventing.journal.redact import Redactor
from shared.api.manifest import Manifest
from shared.kinds import CONFIG_MAP, SECRET, Kind, Ref
from shared.ports import Cluster
from shared.step import Apply, Create, Merge, Outcome, Replace, SetStatus, Write
from tests.eventing.effects.fake_api import FakeApi
from tests.kit.cluster import FixedClock

TOKEN = SECRET.ref("token", "olm")
words = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=6)
seeds = st.text("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", min_size=12, max_size=24)


def a_secret(seed: str, field: str, *, says_kind: bool = True) -> Manifest:
    value = base64.b64encode(seed.encode()).decode() if field == "data" else seed
    identity = {"apiVersion": "v1", "kind": "Secret"} if says_kind else {}
    return {**identity, "metadata": {"name": "token", "namespace": "olm"}, field: {"password": value}}


def with_last_applied(secret: Manifest) -> Manifest:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(secret)}
    return {**secret, "metadata": {**secret["metadata"], "annotations": annotations}}


def in_a_plan(secret: Manifest) -> Manifest:
    step = {"resource": {"kind": "Secret", "manifest": json.dumps(secret)}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "status": {"plan": [step]}}


def in_a_list(secret: Manifest) -> Manifest:
    return {
        "kind": "SecretList",
        "apiVersion": "v1",
        "metadata": {"name": "x"},
        "items": [{**secret, "kind": None}, secret],
    }


def nested_twice(secret: Manifest) -> Manifest:
    inner = json.dumps({"note": json.dumps(secret)})
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"inner": inner}}


def escaped(secret: Manifest) -> Manifest:
    text = json.dumps(secret).replace("Secret", "\\u0053ecret")
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"text": text}}


SHAPES = (dict, with_last_applied, in_a_plan, in_a_list, nested_twice, escaped)


class OneAnswer:
    """A Cluster that always gives the same answer."""

    def __init__(self, answer: Manifest) -> None:
        self._answer = answer

    def get(self, ref: Ref) -> Manifest | None:
        return self._answer

    def list(self, kind: Kind, namespace: str = "") -> tuple[Manifest, ...]:
        return (self._answer,)


def record_of(answer: Manifest, write: Write) -> str:
    """A record in which a step reads the answer in three ways, and then writes."""
    recorder, fresh = Recorder(b"key", lambda: 0), dict[str, Any]()
    tape = recorder.tape(fresh)
    cluster = tape.port(Cluster, OneAnswer(answer))
    cluster.get(TOKEN)
    cluster.get(CONFIG_MAP.ref("x", "olm"))
    cluster.list(SECRET, namespace="olm")
    decided = Decided.of(Outcome((write,)))
    performed = Effects(FakeApi([a_secret("none", "data")]), FixedClock()).perform(decided.writes, {}, lambda: True)
    decision = recorder.decision(tape, decided, performed)
    run = Run("run", "demo/step", "v1/Secret/olm/token", 0, 1.0, "0", decisions=[decision])
    return repr(unpack_run(recorder.record(run, fresh))) + "".join(bytes(raw).decode() for raw in fresh.values())


@settings(max_examples=150, deadline=None)
@given(seeds, st.sampled_from(["data", "stringData"]), st.sampled_from(SHAPES), st.sampled_from(SHAPES), st.data())
def test_no_secret_value_is_stored(
    seed: str,
    field: str,
    read: Callable[[Manifest], Manifest],
    written: Callable[[Manifest], Manifest],
    data: st.DataObject,
) -> None:
    secret = a_secret(seed, field)
    patch = a_secret(seed, field, says_kind=False)
    writes: list[Write] = [
        Create(written(secret)),
        Apply(written(secret)),
        Replace(written(secret)),
        Merge(TOKEN, patch),
        SetStatus(CONFIG_MAP.ref("x", "olm"), {"plan": written(secret)}),
    ]
    write = data.draw(st.sampled_from(writes))
    record = record_of(read(secret), write)
    assert seed not in record
    assert base64.b64encode(seed.encode()).decode() not in record
    assert "redacted:" in record or base64.b64encode(b"redacted:")[:10].decode() in record


@pytest.mark.parametrize("ask", [lambda cluster: cluster.get(TOKEN), lambda cluster: cluster.list(SECRET, "olm")])
def test_an_answer_need_not_say_that_it_is_a_secret(ask: Callable[[Any], object]) -> None:
    fresh: dict[str, Any] = {}
    ask(Recorder(b"key").tape(fresh).port(Cluster, OneAnswer(a_secret("hunter2", "stringData", says_kind=False))))
    assert "hunter2" not in repr([bytes(body) for body in fresh.values()])
    assert len(fresh) == 1


@given(st.dictionaries(words, st.one_of(words, st.lists(words), st.none(), st.integers()), max_size=4))
def test_what_is_no_secret_stays_as_it_is(values: dict[str, Any]) -> None:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "Secret"}, "data": values}
    assert Redactor(b"key").clean(manifest) == manifest


@given(seeds, st.sampled_from(["data", "stringData"]), st.sampled_from(SHAPES))
def test_a_redacted_object_stays_as_it_is(seed: str, field: str, shape: Callable[[Manifest], Manifest]) -> None:
    once = Redactor(b"key").clean(shape(a_secret(seed, field)))
    assert Redactor(b"another key").clean(once) == once


def test_equal_values_have_equal_stand_ins_and_others_do_not() -> None:
    redactor = Redactor(b"key")
    one, same, other = (redactor.clean(a_secret(seed, "data"))["data"]["password"] for seed in ("a", "a", "b"))
    assert one == same != other


def test_a_stand_in_says_nothing_without_the_key() -> None:
    assert Redactor(b"key").stand_in("hunter2") != Redactor(b"other").stand_in("hunter2")


def test_data_of_a_secret_can_still_be_decoded() -> None:
    value = Redactor(b"key").clean(a_secret("x", "data"))["data"]["password"]
    assert base64.b64decode(value, validate=True).startswith(b"redacted:")


def test_keys_of_a_secret_are_kept() -> None:
    assert list(Redactor(b"key").clean(a_secret("x", "data"))["data"]) == ["password"]
