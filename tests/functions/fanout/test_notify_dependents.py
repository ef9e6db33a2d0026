from __future__ import annotations

from typing import Any

import pytest

from functions.fanout.notify_dependents import notify_dependents
from shared import kinds, names
from shared.kinds import CLUSTER_SERVICE_VERSION, NAMESPACE, OPERATOR_GROUP, ROLE, Ref
from shared.step import Emit
from tests.functions.operator_group.builders import a_csv, a_group, a_namespace
from tests.kit.cluster import FakeCluster

LABEL = "olm.operatorgroup.uid/uid-g"
GROUP_ENQUEUED = Emit(names.GROUP_CHANGED, OPERATOR_GROUP.ref("g", "ns"))
COPY_DUE = Emit(names.COPY_DUE, CLUSTER_SERVICE_VERSION.ref("op.v1", "ns"))
PERMISSIONS_ENQUEUED = Emit(names.PERMISSIONS_CHANGED, CLUSTER_SERVICE_VERSION.ref("op.v1", "ns"))
BY_LABEL: dict[str, Any] = {"selector": {"matchLabels": {"team": "x"}}}


def run(ref: Ref, *objects: dict[str, Any]) -> tuple[Emit, ...]:
    outcome = notify_dependents(ref, FakeCluster(objects))
    assert outcome.writes == ()
    return outcome.emits


@pytest.mark.parametrize(
    ("group", "namespace", "is_enqueued"),
    [
        pytest.param(a_group(targets=[], **BY_LABEL), a_namespace("a", team="x"), True, id="csv.md 20: it matches now"),
        pytest.param(
            a_group(targets=["a"], **BY_LABEL), a_namespace("a", **{LABEL: ""}), True, id="csv.md 20: it matched before"
        ),
        pytest.param(
            a_group(targets=["a"], **BY_LABEL),
            a_namespace("a", **{"team": "x", LABEL: ""}),
            False,
            id="csv.md 20: it matches as before",
        ),
        pytest.param(a_group(targets=["a"], **BY_LABEL), None, True, id="csv.md 1.4: it is gone"),
        pytest.param(a_group(targets=["b"], **BY_LABEL), None, False, id="csv.md 1.4: it is gone, and was no target"),
        pytest.param(
            a_group(targets=["a"], targetNamespaces=["a"]),
            a_namespace("a"),
            True,
            id="csv.md 8.6: a target that exists now wants its label",
        ),
        pytest.param(
            a_group(targets=["a"], targetNamespaces=["a"]), None, False, id="csv.md 8.2: a target need not exist"
        ),
        pytest.param(a_group(targets=[""]), a_namespace("a"), False, id="csv.md 8.6: global groups never label"),
    ],
)
def test_groups_concerned_by_a_namespace(
    group: dict[str, Any], namespace: dict[str, Any] | None, is_enqueued: bool
) -> None:
    emits = run(NAMESPACE.ref("a"), group, *([namespace] if namespace else []))

    assert emits == ((GROUP_ENQUEUED,) if is_enqueued else ())


def test_a_new_namespace_receives_copies() -> None:
    """csv.md 18.5 row 130: a global group and a namespace created later."""
    copied_already = a_csv("old.v1")
    copy = a_csv("old.v1", "a", labels={"olm.copiedFrom": "ns"})

    assert run(NAMESPACE.ref("a"), a_group(targets=[""]), a_namespace("a"), a_csv(), copied_already, copy) == (
        COPY_DUE,
    )


def test_a_deleted_namespace_receives_no_copies() -> None:
    assert run(NAMESPACE.ref("a"), a_group(targets=[""]), a_csv()) == ()


def test_the_namespace_of_the_group_itself_receives_none() -> None:
    assert run(NAMESPACE.ref("ns"), a_group(targets=[""]), a_namespace("ns"), a_csv()) == ()


@pytest.mark.parametrize(
    ("phase", "emits"),
    [
        pytest.param("Pending", (PERMISSIONS_ENQUEUED,), id="csv.md 20: it may wait for permissions"),
        pytest.param("Failed", (PERMISSIONS_ENQUEUED,), id="csv.md 1.4: it may have failed for lack of them"),
        pytest.param("Succeeded", (PERMISSIONS_ENQUEUED,), id="csv.md 5.7: it fails when they are removed"),
        pytest.param("Replacing", (), id="csv.md 4.7: its successor has taken over"),
    ],
)
def test_versions_concerned_by_permissions_that_nobody_owns(phase: str, emits: tuple[Emit, ...]) -> None:
    assert run(ROLE.ref(names.ANY, "ns"), a_csv(phase=phase)) == emits


OWNED_BY = {"ownerReferences": [{"kind": "ClusterServiceVersion", "name": "op.v1"}]}
LABELLED = {"labels": {"olm.owner": "op.v1", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion"}}
DEPENDENT = (Emit(names.DEPENDENT_CHANGED, CLUSTER_SERVICE_VERSION.ref("op.v1", "ns")),)


@pytest.mark.parametrize(
    ("kind", "meta", "emits"),
    [
        pytest.param(kinds.DEPLOYMENT, OWNED_BY, DEPENDENT, id="csv.md 1.4: by owner reference"),
        pytest.param(kinds.CLUSTER_ROLE, LABELLED, DEPENDENT, id="csv.md 1.4: by owner labels"),
        pytest.param(kinds.ROLE, {**OWNED_BY, **LABELLED}, DEPENDENT, id="csv.md 1.4: by both, once"),
        pytest.param(
            kinds.INSTALL_PLAN,
            {"ownerReferences": [{"kind": "Subscription", "name": "s"}]},
            (Emit(names.DEPENDENT_CHANGED, kinds.SUBSCRIPTION.ref("s", "ns")),),
            id="an InstallPlan concerns its Subscription",
        ),
        pytest.param(
            kinds.ROLE_BINDING,
            {"ownerReferences": [{"kind": "OperatorCondition", "name": "op.v1"}]},
            (Emit(names.DEPENDENT_CHANGED, kinds.OPERATOR_CONDITION.ref("op.v1", "ns")),),
            id="csv.md 11.3: rights of a reporter concern the OperatorCondition",
        ),
        pytest.param(kinds.DEPLOYMENT, {"ownerReferences": [{"kind": "X", "name": "x"}]}, (), id="owned by a stranger"),
        *(
            pytest.param(
                kinds.DEPLOYMENT,
                {
                    "ownerReferences": [{"kind": "ClusterServiceVersion", "name": text}],
                    "labels": LABELLED["labels"] | {names.OWNER: text},
                },
                (),
                id=f"owned by {text!r}, which nothing can be called",
            )
            for text in ("x,y", "/", "", "..")
        ),
    ],
)
def test_owners_of_an_object(kind: kinds.Kind, meta: dict[str, Any], emits: tuple[Emit, ...]) -> None:
    ref = kind.ref("thing", "ns")
    namespaced = {"namespace": "ns"} if kind.is_namespaced else {}
    thing = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "thing", **namespaced, **meta}}

    assert run(ref, thing) == emits


def test_an_object_that_is_gone_cannot_say_who_owned_it() -> None:
    assert run(kinds.DEPLOYMENT.ref("gone", "ns")) == ()
