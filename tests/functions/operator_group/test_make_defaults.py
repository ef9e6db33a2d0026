"""OLM's default objects are made once, and never over what is there."""

from __future__ import annotations

from typing import Any

import pytest

from functions.operator_group.make_defaults import make_defaults
from shared.kinds import CLUSTER_ROLE, NAMESPACE, OLM_CONFIG, Kind
from shared.ports import Policy
from shared.step import Create, Merge, Outcome
from tests.functions.operator_group.builders import a_group, a_namespace
from tests.kit.cluster import FakeCluster

ANYTHING = NAMESPACE.ref("victim")
DONE = Merge(OLM_CONFIG.ref("cluster"), {"metadata": {"annotations": {"olmf.io/defaults": "made"}}})
ALL = [
    "Namespace operators", "OperatorGroup global-operators", "OperatorGroup olm-operators",
    "ClusterRole aggregate-olm-edit", "ClusterRole aggregate-olm-view", "OLMConfig cluster",
]  # fmt: skip


def run(*objects: dict[str, Any]) -> Outcome:
    return make_defaults(ANYTHING, FakeCluster(objects), policy=Policy(global_namespace="olm"))


def made(outcome: Outcome) -> list[str]:
    created = [write.manifest for write in outcome.writes if isinstance(write, Create)]
    return [f"{one['kind']} {one['metadata']['name']}" for one in created]


def an_object(kind: Kind, name: str) -> dict[str, Any]:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}}


def test_an_empty_cluster_gets_all_of_them() -> None:
    """csv.md 15.3."""
    outcome = run(a_namespace("olm"))

    assert made(outcome) == ALL
    manifests = {w.manifest["metadata"]["name"]: w.manifest for w in outcome.writes if isinstance(w, Create)}
    assert manifests["cluster"]["metadata"]["annotations"] == {"olmf.io/defaults": "made"}
    assert manifests["global-operators"]["spec"] == {}
    assert manifests["global-operators"]["metadata"]["namespace"] == "operators"
    assert manifests["olm-operators"]["spec"] == {"targetNamespaces": ["olm"]}
    assert set(manifests["aggregate-olm-edit"]["metadata"]["labels"]) == {
        "rbac.authorization.k8s.io/aggregate-to-admin",
        "rbac.authorization.k8s.io/aggregate-to-edit",
    }
    verbs = {verb for rule in manifests["aggregate-olm-view"]["rules"] for verb in rule["verbs"]}
    assert verbs == {"get", "list", "watch"}


@pytest.mark.parametrize(
    ("present", "not_made"),
    [
        pytest.param(an_object(OLM_CONFIG, "cluster"), "OLMConfig cluster", id="an OLMConfig"),
        pytest.param(a_namespace("operators"), "Namespace operators", id="the namespace"),
        pytest.param(a_group("own", "operators"), "OperatorGroup global-operators", id="an OperatorGroup of any name"),
        pytest.param(a_group("own", "olm"), "OperatorGroup olm-operators", id="one beside us"),
        pytest.param(an_object(CLUSTER_ROLE, "aggregate-olm-edit"), "ClusterRole aggregate-olm-edit", id="a role"),
    ],
)
def test_what_is_there_is_left_alone(present: dict[str, Any], not_made: str) -> None:
    """Two groups in a namespace would stop everybody there (csv.md 3.2)."""
    outcome = run(a_namespace("olm"), present)
    assert made(outcome) == [one for one in ALL if one != not_made]
    assert (DONE in outcome.writes) is (present["kind"] == "OLMConfig")


def test_what_somebody_deleted_stays_away() -> None:
    config = an_object(OLM_CONFIG, "cluster")
    config["metadata"]["annotations"] = {"olmf.io/defaults": "made"}
    assert run(a_namespace("olm"), config).writes == ()
