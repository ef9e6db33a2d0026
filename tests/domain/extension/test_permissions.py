"""What an installer must be allowed: the requests, and what it hands out."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.extension.permissions import Installer, defined, least, resource_of
from shared.domain.objects.authorizer import PolicyRule, is_satisfied

Object = dict[str, Any]
RBAC = "rbac.authorization.k8s.io"
ME = Installer("p-installer")


def an_object(kind: str, name: str = "a", namespace: str = "", api: str = "v1", **more: Any) -> Object:
    meta = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api, "kind": kind, "metadata": meta, **more}


def a_role(name: str, *rules: Object, namespace: str = "", **more: Any) -> Object:
    return an_object("Role" if namespace else "ClusterRole", name, namespace, f"{RBAC}/v1", rules=list(rules), **more)


def a_binding(role: str, kind: str = "ClusterRole", namespace: str = "") -> Object:
    bound = "RoleBinding" if namespace else "ClusterRoleBinding"
    return an_object(bound, "b", namespace, f"{RBAC}/v1", roleRef={"kind": kind, "name": role})


def rule(resource: str, *verbs: str, group: str = "", named: tuple[str, ...] = ()) -> Object:
    found: Object = {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}
    return found | ({"resourceNames": list(named)} if named else {})


def rules(*objects: Object, namespace: str = "") -> list[Object]:
    kind = "Role" if namespace else "ClusterRole"
    made = [one for one in least(objects, ME) if one["kind"] == kind]
    return [one for role in made if role["metadata"].get("namespace", "") == namespace for one in role["rules"]]


def test_requests_are_narrowed_to_names_where_rbac_can() -> None:
    objects = [an_object("ConfigMap", name, "ns") for name in "ba"] + [an_object("Namespace", "ns")]
    assert rules(*objects, namespace="ns") == [
        rule("configmaps", "create", "list", "watch"),
        rule("configmaps", "delete", "get", "patch", "update", named=("a", "b")),
    ]
    assert rules(*objects) == [
        rule("namespaces", "create", "list", "watch"),
        rule("namespaces", "delete", "get", "patch", "update", named=("ns",)),
    ]


def test_what_has_no_namespace_is_asked_for_everywhere() -> None:
    """v1.md 18.6: webhook configurations are rendered with a namespace, which the API server forgets."""
    cluster = {**CRD, "spec": {**CRD["spec"], "scope": "Cluster"}}
    hook = an_object("ValidatingWebhookConfiguration", "h", "ns", "admissionregistration.k8s.io/v1")
    mouse = an_object("Mouse", "m", "ns", "acme.io/v1")
    found = {resource for one in rules(hook, mouse, cluster) for resource in one["resources"]}
    assert found == {"validatingwebhookconfigurations", "mice", "customresourcedefinitions"}
    assert {one["resources"][0] for one in rules(mouse, CRD, namespace="ns")} == {"mice"}


def test_whoever_installs_a_role_has_its_rules_where_they_hold() -> None:
    pods, nodes, urls = rule("pods", "get"), rule("nodes", "get"), {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
    objects = [a_role("r", pods, namespace="ns"), a_role("c", nodes, urls)]
    assert pods in rules(*objects, namespace="ns")
    assert pods not in rules(*objects)
    assert nodes in rules(*objects)
    assert urls in rules(*objects)


def test_what_holds_everywhere_is_not_said_again() -> None:
    pods = rule("pods", "get", "list")
    objects = [a_role("r", rule("pods", "get"), namespace="ns"), a_role("c", pods, pods, rule("pods", "list"))]
    assert [one for one in rules(*objects) if "pods" in one["resources"]] == [pods]
    assert not [one for one in rules(*objects, namespace="ns") if "pods" in one["resources"]]


def test_a_namespace_that_needs_nothing_more_gets_no_role() -> None:
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    assert [one["kind"] for one in least([a_role("c", everything), an_object("Secret", "s", "ns")], ME)] == [
        "ClusterRole"
    ]


@pytest.mark.parametrize(
    ("binding", "scope", "want"),
    [
        pytest.param(a_binding("view"), "", rule("clusterroles", "bind", group=RBAC, named=("view",)), id="everywhere"),
        pytest.param(
            a_binding("view", namespace="ns"), "ns", rule("clusterroles", "bind", group=RBAC, named=("view",)),
            id="a ClusterRole in a namespace",
        ),
        pytest.param(
            a_binding("r", "Role", "ns"), "ns", rule("roles", "bind", group=RBAC, named=("r",)), id="a Role"
        ),
    ],
)  # fmt: skip
def test_a_role_that_is_bound_and_not_installed_takes_bind(binding: Object, scope: str, want: Object) -> None:
    assert want in rules(binding, namespace=scope)


def test_a_role_that_is_installed_takes_no_bind() -> None:
    objects = [
        a_role("r", rule("pods", "get"), namespace="ns"),
        a_binding("r", "Role", "ns"),
        a_role("c"),
        a_binding("c"),
    ]
    assert not [one for scope in ("", "ns") for one in rules(*objects, namespace=scope) if "bind" in one["verbs"]]


def test_a_role_that_collects_others_takes_escalate_and_bind() -> None:
    found = rules(a_role("c", aggregationRule={"clusterRoleSelectors": []}), a_binding("c"))
    assert rule("clusterroles", "escalate", group=RBAC) in found
    assert rule("clusterroles", "bind", group=RBAC, named=("c",)) in found


def test_a_role_of_another_group_hands_out_nothing() -> None:
    other = an_object("ClusterRole", api="acme.io/v1", rules=[rule("pods", "get")])
    assert not [one for one in rules(other) if "pods" in one["resources"]]


CRD = an_object(
    "CustomResourceDefinition",
    "mice.acme.io",
    api="apiextensions.k8s.io/v1",
    spec={"group": "acme.io", "names": {"kind": "Mouse", "plural": "mice"}},
)


@pytest.mark.parametrize(
    ("manifest", "want"),
    [
        (an_object("Mouse", api="acme.io/v1"), ("acme.io", "mice")),
        (an_object("Deployment", api="apps/v1"), ("apps", "deployments")),
        (an_object("NetworkPolicy", api="networking.k8s.io/v1"), ("networking.k8s.io", "networkpolicies")),
        (an_object("PriorityClass", api="scheduling.k8s.io/v1"), ("scheduling.k8s.io", "priorityclasses")),
        (an_object("ServiceMonitor", api="monitoring.coreos.com/v1"), ("monitoring.coreos.com", "servicemonitors")),
    ],
)
def test_what_a_kind_is_called_in_requests(manifest: Object, want: tuple[str, str]) -> None:
    assert resource_of(manifest, defined([CRD, manifest])) == want


def test_the_owner_must_be_writable_where_it_blocks_deletion() -> None:
    [role] = least([], Installer("i", extension="e"))
    group = "olm.operatorframework.io"
    assert role["rules"] == [rule("clusterobjectsets/finalizers", "update", group=group)]


def test_roles_are_bound_to_an_account() -> None:
    objects = [an_object("Secret", "s", "ns"), an_object("Namespace", "ns")]
    made = least(objects, Installer("i", ("home", "sa")))
    assert [one["kind"] for one in made] == ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]
    assert all(one["metadata"]["name"] == "i" for one in made)
    assert [one["metadata"].get("namespace") for one in made] == [None, None, "ns", "ns"]
    assert made[3]["roleRef"] == {"apiGroup": RBAC, "kind": "Role", "name": "i"}
    assert made[1]["subjects"] == [{"kind": "ServiceAccount", "namespace": "home", "name": "sa"}]


def test_no_rule_could_be_left_out() -> None:
    objects = [
        CRD,
        an_object("Secret", "s", "ns"),
        a_role("c", rule("pods", "get", "list"), rule("pods", "get")),
        a_role("r", rule("pods", "list"), rule("secrets", "create"), namespace="ns"),
        a_binding("view", namespace="ns"),
    ]
    everywhere, inside = rules(*objects), rules(*objects, namespace="ns")
    for one in everywhere:
        assert not is_satisfied(
            PolicyRule.of(one), tuple(PolicyRule.of(other) for other in everywhere if other is not one)
        )
    for one in inside:
        assert not is_satisfied(
            PolicyRule.of(one), tuple(PolicyRule.of(each) for each in [*inside, *everywhere] if each is not one)
        )
