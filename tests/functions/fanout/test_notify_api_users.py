"""An API that changes wakes the versions that rest on it, and the groups that give users roles for it."""

from __future__ import annotations

from typing import Any

import pytest

from functions.fanout.notify_api_users import notify_api_users
from shared import names
from shared.kinds import API_SERVICE, CLUSTER_SERVICE_VERSION, CUSTOM_RESOURCE_DEFINITION, OPERATOR_GROUP, Kind, Ref
from shared.step import Emit
from tests.functions.operator_group.builders import a_csv, a_group
from tests.kit.cluster import FakeCluster

BIRDS = CUSTOM_RESOURCE_DEFINITION.ref("birds.com")
VERSION = Emit(names.REQUIREMENT_CHANGED, CLUSTER_SERVICE_VERSION.ref("op.v1", "ns"))
GROUP = Emit(names.GRANT_DUE, OPERATOR_GROUP.ref("g", "ns"))
GOOSE = "geese.birds.com/v1/Goose"


def requiring(**entry: str) -> dict[str, Any]:
    csv = a_csv()
    csv["spec"]["apiservicedefinitions"] = {"required": [entry]}
    return csv


@pytest.mark.parametrize(
    ("ref", "csv", "emits"),
    [
        pytest.param(BIRDS, a_csv(owns=[GOOSE]), (VERSION, GROUP), id="csv.md 19 row 1: it owns one, and works"),
        pytest.param(BIRDS, a_csv(owns=[GOOSE], phase="Failed"), (VERSION,), id="csv.md 19 row 1: it does not work"),
        pytest.param(
            BIRDS,
            a_csv(required=[{"name": "geese.birds.com", "version": "v1", "kind": "Goose"}]),
            (VERSION,),
            id="csv.md 19 row 1: it requires one",
        ),
        pytest.param(
            BIRDS,
            a_csv(native=[{"group": "birds.com", "version": "v1", "kind": "Goose"}]),
            (VERSION,),
            id="csv.md 5.5: it names one as a native API",
        ),
        pytest.param(
            BIRDS,
            a_csv(owns=["cows.m.com/v1/Cow"], native=[{"group": "m.com", "version": "v1", "kind": "Bull"}]),
            (),
            id="csv.md 19 row 1: of another API group",
        ),
        pytest.param(BIRDS, a_csv(owns=[GOOSE], labels={"olm.copiedFrom": "x"}), (), id="csv.md 10: a copy"),
        pytest.param(
            API_SERVICE.ref("v1.birds.com"),
            requiring(group="birds.com", version="v1", kind="Goose"),
            (VERSION,),
            id="csv.md 5.4: it requires the APIService",
        ),
        pytest.param(
            API_SERVICE.ref("v1."),
            requiring(version="v1", kind="Pod"),
            (VERSION,),
            id="csv.md 5.4: it requires an API of the core group",
        ),
        pytest.param(
            API_SERVICE.ref("v1.birds.com"),
            a_csv(native=[{"group": "birds.com", "version": "v1", "kind": "Goose"}]),
            (VERSION,),
            id="csv.md 5.5: it names its API as a native one",
        ),
        pytest.param(
            API_SERVICE.ref("v2.birds.com"),
            requiring(group="birds.com", version="v1", kind="Goose"),
            (),
            id="csv.md 5.4: of another version",
        ),
        pytest.param(
            API_SERVICE.ref("v9.birds.com"),
            a_csv(owns=[GOOSE], phase="Failed"),
            (GROUP,),
            id="it owns a definition in the API group, whose roles depend on who serves it",
        ),
        pytest.param(API_SERVICE.ref("v1.com"), a_csv(owns=[GOOSE]), (), id="of another API group"),
        pytest.param(
            API_SERVICE.ref("v1.birds.com"), a_csv(owns=[GOOSE], labels={"olm.copiedFrom": "x"}), (), id="also a copy"
        ),
    ],
)
def test_notify_api_users(ref: Ref, csv: dict[str, Any], emits: tuple[Emit, ...]) -> None:
    outcome = notify_api_users(ref, FakeCluster([a_group(), csv]))
    assert (outcome.writes, outcome.emits) == ((), emits)


def test_two_reads_are_enough_and_no_copy_is_among_what_they_answer() -> None:
    class Noting(FakeCluster):
        def list(self, kind: Kind, *args: Any, **more: Any) -> tuple[dict[str, Any], ...]:
            found = super().list(kind, *args, **more)
            read.append([*map(Ref.of, found)])
            return found

    read: list[list[Ref]] = []
    groups = [a_group("g", namespace) for namespace in ("a", "b", "ns")]
    copies = [a_csv(namespace=namespace, owns=[GOOSE], labels={names.COPIED_FROM: "ns"}) for namespace in ("a", "b")]
    unmarked = a_csv(namespace="b", name="op.v2", owns=[GOOSE], annotations={names.OPERATOR_NAMESPACE: "ns"})
    outcome = notify_api_users(BIRDS, Noting([*groups, *copies, unmarked, a_csv(owns=[GOOSE])]))
    assert outcome.emits == (VERSION, GROUP)
    assert read == [[*map(Ref.of, groups)], [Ref.of(unmarked), VERSION.ref]]
