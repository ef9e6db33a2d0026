"""What it takes to carry out a step oneself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import OperatorGroup
from shared.domain.authors.needs import MOST_ASKED, Access, Need, Writing, of_step
from shared.kinds import Kind
from tests.domain.csv.builders import a_csv

RBAC = "rbac.authorization.k8s.io"
GLOBAL = OperatorGroup({"metadata": {"namespace": "ns"}, "status": {"namespaces": [""]}})
TWO = OperatorGroup({"metadata": {"namespace": "ns"}, "status": {"namespaces": ["ns", "other"]}})
GETS = {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"], "resourceNames": ["one", "two"]}
Rules = Sequence[ReadOnly] | None


def made(kind: Kind, name: str = "thing", **content: Any) -> Manifest:
    meta: Manifest = {"name": name, **({"namespace": "ns"} if kind.is_namespaced else {})}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **content}


def of_operator(manifest: Manifest) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "labels": {names.OWNER: "a.v1"}}}


def a_binding(kind: Kind = kinds.ROLE_BINDING, role: str = "Role") -> Manifest:
    return made(kind, roleRef={"apiGroup": RBAC, "kind": role, "name": "thing"}, subjects=[])


def needs(
    manifest: Manifest, kind: Kind, group: OperatorGroup | None = None, rules: Rules = None, verb: str = "create"
) -> list[Need]:
    return list(of_step(Writing(manifest, kind, verb), group, lambda *_: rules))


def access(verb: str, kind: Kind, namespace: str = "ns", name: str = "thing") -> Access:
    return Access(verb, kind.group, kind.plural, namespace, name)


LOGS = [Access("get", "", "pods", "ns", name, "log") for name in ("one", "two")]


@pytest.mark.parametrize(
    ("manifest", "kind", "want"),
    [
        pytest.param(made(kinds.SERVICE), kinds.SERVICE, [Need(access("create", kinds.SERVICE))], id="its object"),
        pytest.param(
            made(kinds.ROLE, rules=[GETS]), kinds.ROLE,
            [Need(access("create", kinds.ROLE)), Need(access("escalate", kinds.ROLE), tuple(LOGS))],
            id="what a role gives",
        ),
        pytest.param(made(kinds.ROLE, rules=[]), kinds.ROLE, [Need(access("create", kinds.ROLE))],
                     id="a role that gives nothing"),
        pytest.param(
            made(kinds.CLUSTER_ROLE, rules=[{"nonResourceURLs": ["/metrics*"], "verbs": ["get", "*"]}]),
            kinds.CLUSTER_ROLE,
            [
                Need(access("create", kinds.CLUSTER_ROLE, "")),
                Need(access("escalate", kinds.CLUSTER_ROLE, ""),
                     (Access("get", path="/metrics*"), Access("*", path="/metrics*"))),
            ],
            id="paths",
        ),
        pytest.param(
            made(kinds.CLUSTER_ROLE, rules=[GETS], aggregationRule={"clusterRoleSelectors": []}), kinds.CLUSTER_ROLE,
            [Need(access("create", kinds.CLUSTER_ROLE, "")), Need(access("escalate", kinds.CLUSTER_ROLE, ""))],
            id="a role that others fill in gives anything",
        ),
    ],
)  # fmt: skip
def test_an_object(manifest: Manifest, kind: Kind, want: list[Need]) -> None:
    assert needs(manifest, kind) == want


@pytest.mark.parametrize(
    ("rules", "want"),
    [
        pytest.param(None, [Need(access("bind", kinds.ROLE))], id="a role that nobody knows"),
        pytest.param([], [], id="one that gives nothing"),
        pytest.param([GETS], [Need(access("bind", kinds.ROLE), tuple(LOGS))], id="or to have what it gives"),
    ],
)
def test_to_bind(rules: Rules, want: list[Need]) -> None:
    assert needs(a_binding(), kinds.ROLE_BINDING, rules=rules)[1:] == want


def test_a_cluster_role_is_bound_where_its_binding_is() -> None:
    inside = needs(a_binding(role="ClusterRole"), kinds.ROLE_BINDING)[1]
    everywhere = needs(a_binding(kinds.CLUSTER_ROLE_BINDING, "ClusterRole"), kinds.CLUSTER_ROLE_BINDING)[1]
    assert inside == Need(access("bind", kinds.CLUSTER_ROLE))
    assert everywhere == Need(access("bind", kinds.CLUSTER_ROLE, ""))


def test_an_operator_gets_its_rights_in_the_namespaces_of_its_group_too() -> None:
    """csv.md 8.9: as roles of the same names there."""
    role = of_operator(made(kinds.ROLE, rules=[GETS]))
    found = needs(role, kinds.ROLE, TWO)
    assert found[2:] == [
        Need(access("create", kinds.ROLE, "other")),
        Need(
            access("escalate", kinds.ROLE, "other"),
            tuple(Access("get", "", "pods", "other", name, "log") for name in ("one", "two")),
        ),
    ]
    assert needs(made(kinds.ROLE, rules=[GETS]), kinds.ROLE, TWO) == found[:2], "not what a bundle ships"


def test_in_all_namespaces_as_cluster_roles() -> None:
    role, binding = of_operator(made(kinds.ROLE, rules=[GETS])), of_operator(a_binding())
    [create, escalate] = needs(role, kinds.ROLE, GLOBAL)[2:]
    assert create == Need(access("create", kinds.CLUSTER_ROLE, ""))
    assert escalate.access == access("escalate", kinds.CLUSTER_ROLE, "")
    assert Access("watch", "", "namespaces") in escalate.instead
    assert Access("get", "", "pods", "", "one", "log") in escalate.instead
    assert needs(binding, kinds.ROLE_BINDING, GLOBAL)[2:] == [
        Need(access("create", kinds.CLUSTER_ROLE_BINDING, "")), Need(access("bind", kinds.CLUSTER_ROLE, "")),
    ]  # fmt: skip


def test_what_is_lifted_gives_what_its_role_gives_and_not_a_cluster_role_of_that_name() -> None:
    def rules_of(kind: Kind, name: str, namespace: str) -> Rules:
        return [GETS] if (kind, name, namespace) == (kinds.ROLE, "thing", "ns") else None

    lifted = list(of_step(Writing(of_operator(a_binding()), kinds.ROLE_BINDING, "create"), GLOBAL, rules_of))[3]
    assert Access("get", "", "pods", "", "one", "log") in lifted.instead
    other = of_operator(a_binding(role="ClusterRole"))
    assert list(of_step(Writing(other, kinds.ROLE_BINDING, "create"), GLOBAL, rules_of))[3].instead == ()


def test_a_role_of_more_accesses_than_are_asked_for_takes_the_right_to_give() -> None:
    many = {**GETS, "resourceNames": [str(number) for number in range(MOST_ASKED)]}
    assert len(needs(made(kinds.ROLE, rules=[many]), kinds.ROLE)[1].instead) == MOST_ASKED
    vast = {"apiGroups": ["a"] * 2000, "resources": ["b"] * 2000, "verbs": ["c"] * 2000}
    assert needs(made(kinds.ROLE, rules=[many, vast]), kinds.ROLE)[1].instead == ()


def test_a_version_makes_deployments_and_what_serves_for_the_api_server() -> None:
    hook = {
        "type": "ConversionWebhook", "generateName": "c", "deploymentName": "kettle", "containerPort": 443,
        "conversionCRDs": ["kettles.example.com"], "admissionReviewVersions": ["v1"], "sideEffects": "None",
    }  # fmt: skip
    deployment = {"name": "kettle", "spec": {"selector": {}, "template": {}}}
    csv = a_csv(strategy={"deployments": [deployment]}, webhookdefinitions=[hook])
    found = {(one.access.verb, one.access.resource) for one in needs(csv, kinds.CLUSTER_SERVICE_VERSION)}
    both = ("services", "secrets", "roles", "rolebindings", "clusterrolebindings", "deployments")
    assert {(verb, one) for one in both for verb in ("create", "update")} <= found
    assert {("update", "customresourcedefinitions"), ("bind", "clusterroles"), ("bind", "roles")} <= found


@pytest.mark.parametrize(
    ("asked", "attributes", "sentence"),
    [
        pytest.param(
            Access("get", "", "pods", "ns", "one", "log"),
            {"resourceAttributes": {
                "verb": "get", "resource": "pods", "namespace": "ns", "name": "one", "subresource": "log"}},
            'User "a" cannot get resource "pods/log" "one" in API group "" in the namespace "ns"',
            id="in a namespace",
        ),
        pytest.param(
            Access("create", "apps", "deployments"),
            {"resourceAttributes": {"verb": "create", "group": "apps", "resource": "deployments"}},
            'User "a" cannot create resource "deployments" in API group "apps" at the cluster scope', id="in all",
        ),
        pytest.param(
            Access("get", path="/metrics"), {"nonResourceAttributes": {"verb": "get", "path": "/metrics"}},
            'User "a" cannot get path "/metrics"', id="a path",
        ),
    ],
)  # fmt: skip
def test_how_it_is_asked_for_and_told(asked: Access, attributes: Manifest, sentence: str) -> None:
    assert (asked.attributes(), asked.missing("a")) == (attributes, sentence)
