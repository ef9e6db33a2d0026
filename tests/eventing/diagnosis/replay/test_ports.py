"""What is asked at once is recorded and replayed as if each were asked alone."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from eventing.diagnosis.replay.ports import Answers, NotRecorded
from eventing.journal import JournalIndex
from eventing.journal.recorder import Recorder
from eventing.journal.records import Answer, Decision, Run
from shared.adapters.kube import ApiError
from shared.kinds import CONFIG_MAP, JOB
from shared.ports import Cluster, Listing, Policy, ReadSets
from tests.functions.catalog_source.stored_reads import StoredReads
from tests.kit.cluster import FakeCluster

ONE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one", "namespace": "ns", "labels": {"a": "b"}}}
REFS = (CONFIG_MAP.ref("one", "ns"), CONFIG_MAP.ref("absent", "ns"))
LISTINGS = (Listing(CONFIG_MAP, "ns", {"a": "b"}), Listing(CONFIG_MAP), Listing(JOB, "ns"))


def one_by_one(cluster: Any) -> tuple[Any, ...]:
    return tuple(map(cluster.get, REFS)), tuple(
        cluster.list(one.kind, one.namespace, labels=one.labels) for one in LISTINGS
    )


def at_once(cluster: Any) -> tuple[Any, ...]:
    return cluster.get_all(REFS), cluster.list_all(LISTINGS)


@pytest.mark.parametrize("then", [one_by_one, at_once])
@pytest.mark.parametrize("now", [one_by_one, at_once])
def test_how_it_was_asked_does_not_matter_to_a_replay(then: Any, now: Any) -> None:
    fresh: dict[str, Any] = {}
    calls = Recorder(b"key").calls(fresh)
    reported = then(calls.port(Cluster, FakeCluster([ONE])))
    assert calls.reads == {REFS[0]: ONE, REFS[1]: None}
    book = JournalIndex()
    book.bodies.update(fresh)
    replayed = Answers(book, [(0, answer) for answer in calls.answers]).port(Cluster)
    assert now(replayed) == reported == ((ONE, None), ((ONE,), (ONE,), ()))
    with pytest.raises(NotRecorded):
        replayed.get_all((CONFIG_MAP.ref("another", "ns"),))


def test_what_earlier_builds_did_not_ask_is_answered_with_what_they_did_not_know() -> None:
    """Their decisions are made again as they were: everybody who may use a catalog is told of it."""
    assert Answers(JournalIndex(), []).port(ReadSets).of(REFS) == ({}, {})


def test_what_decisions_read_is_replayed() -> None:
    fresh: dict[str, Any] = {}
    calls = Recorder(b"key").calls(fresh)
    stored = StoredReads({REFS[0]: {"catalogs": {}}})
    reported = calls.port(ReadSets, stored).of(REFS)
    book = JournalIndex()
    book.bodies.update(fresh)
    answers = [(0, msgspec.convert(msgspec.to_builtins(one), Answer)) for one in calls.answers]
    assert Answers(book, answers).port(ReadSets).of(REFS) == reported == ({"catalogs": {}}, {})


class Away(FakeCluster):
    """A cluster that does not answer."""

    def get(self, ref: Any) -> None:
        raise ApiError(0, "Unreachable", f"{ref} is not to be had")


def test_what_was_refused_is_refused_again() -> None:
    calls = Recorder(b"key").calls({})
    with pytest.raises(ApiError):
        calls.port(Cluster, Away()).get_all(REFS)
    answers: list[Answer] = calls.answers
    with pytest.raises(Exception, match="is not to be had"):
        Answers(JournalIndex(), [(0, answer) for answer in answers]).port(Cluster).get_all(REFS)


def test_a_step_that_asks_for_settings_today_gets_those_that_others_were_given() -> None:
    """An installation has one set for all steps."""
    index, fresh = JournalIndex(), dict[str, Any]()
    calls = Recorder(b"key").calls(fresh)
    calls.value(Policy, Policy(global_namespace="home"))
    with pytest.raises(NotRecorded):
        Answers(index, []).port(Policy)
    index.bodies.update(fresh)
    index.runs["1"] = Run(
        "1", "other/step", "v1/Namespace//a", 0, 1.0, "code", decisions=[Decision(calls.answers, "outcome")]
    )
    assert Answers(index, []).port(Policy).global_namespace == "home"
