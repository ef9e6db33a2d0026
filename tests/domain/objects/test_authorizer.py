from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Role, RoleBinding
from shared.domain.objects.authorizer import Grants, PolicyRule, groups_of, is_satisfied

ACCOUNT_NAMESPACE, ACCOUNT = "coffee-shop", "barista-operator"


def a_rule(verbs: str = "get", groups: str = "g", resources: str = "r", **more: Any) -> Manifest:
    return {"verbs": verbs.split(), "apiGroups": groups.split(), "resources": resources.split(), **more}


def a_url_rule(*urls: str) -> PolicyRule:
    return PolicyRule(("get",), urls=urls)


def a_role(name: str = "role", *rules: Manifest, namespace: str = ACCOUNT_NAMESPACE) -> Role:
    return Role({"metadata": {"name": name, "namespace": namespace}, "rules": list(rules or (a_rule(),))})


OURS = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": ACCOUNT_NAMESPACE}
OTHER = {**OURS, "name": "other"}
PLACELESS = {"kind": "ServiceAccount", "name": ACCOUNT}


def a_binding(
    name: str = "role", kind: str = "Role", namespace: str = ACCOUNT_NAMESPACE, subject: Manifest = OURS
) -> RoleBinding:
    meta = {"name": "b", "namespace": namespace}
    return RoleBinding({"metadata": meta, "roleRef": {"kind": kind, "name": name}, "subjects": [subject]})


ROLE, BINDING = (a_role(),), (a_binding(),)
CLUSTER_ROLE, CLUSTER_BINDING = (a_role(namespace=""),), (a_binding(kind="ClusterRole", namespace=""),)
GROUP = {"kind": "Group", "name": "system:serviceaccounts"}
USER = {"kind": "User", "name": f"system:serviceaccount:{ACCOUNT_NAMESPACE}:{ACCOUNT}"}


@pytest.mark.parametrize(
    ("grants", "want"),
    [
        pytest.param(Grants(), False, id="csv.md 18 row 218: nothing granted"),
        pytest.param(Grants(ROLE, BINDING), True, id="csv.md 18 row 219: Role and RoleBinding"),
        pytest.param(Grants(ROLE), False, id="csv.md 18 row 44: a Role without binding"),
        pytest.param(
            Grants(cluster_roles=CLUSTER_ROLE, cluster_role_bindings=CLUSTER_BINDING), True,
            id="csv.md 18 row 223: ClusterRole and ClusterRoleBinding",
        ),
        pytest.param(Grants(cluster_roles=CLUSTER_ROLE), False, id="csv.md 18 row 44: a ClusterRole without binding"),
        pytest.param(
            Grants(role_bindings=(a_binding(kind="ClusterRole"),), cluster_roles=CLUSTER_ROLE), True,
            id="csv.md 5.6: a ClusterRole bound in the namespace",
        ),
        pytest.param(
            Grants((a_role(namespace="x"),), (a_binding(namespace="x"),)), False,
            id="csv.md 5.6: bindings of other namespaces do not count",
        ),
        pytest.param(Grants(ROLE, (a_binding(subject=GROUP),)), False, id="csv.md 5.6: groups do not count"),
        pytest.param(Grants(ROLE, (a_binding(subject=USER),)), True, id="csv.md 5.6: the account as user"),
        pytest.param(
            Grants(ROLE, (a_binding(subject=OTHER),)), False,
            id="csv.md 5.6: another account",
        ),
        pytest.param(
            Grants(ROLE, (a_binding(subject=PLACELESS),)), True,
            id="csv.md 11.3-2: a subject without namespace is of the binding's",
        ),
    ],
)  # fmt: skip
def test_in_its_namespace(grants: Grants, want: bool) -> None:
    assert is_satisfied(PolicyRule.of(a_rule()), grants.of(ACCOUNT, ACCOUNT_NAMESPACE, ACCOUNT_NAMESPACE)) is want


@pytest.mark.parametrize(
    ("group", "want"), [("system:serviceaccounts", True), (f"system:serviceaccounts:{ACCOUNT_NAMESPACE}", True),
                        ("system:serviceaccounts:x", False)],
)  # fmt: skip
def test_what_its_groups_have_counts_where_they_are_named(group: str, *, want: bool) -> None:
    grants = Grants(ROLE, (a_binding(subject={"kind": "Group", "name": group}),))
    groups = groups_of(ACCOUNT_NAMESPACE)
    found = grants.of(ACCOUNT, ACCOUNT_NAMESPACE, ACCOUNT_NAMESPACE, groups=groups)
    assert is_satisfied(PolicyRule.of(a_rule()), found) is want


def test_two_roles_that_each_grant_a_part_satisfy_csv_md_18_row_222() -> None:
    roles = (a_role("one", a_rule("get")), a_role("two", a_rule("list")))
    granted = Grants(roles, (a_binding("one"), a_binding("two"))).of(ACCOUNT, ACCOUNT_NAMESPACE, ACCOUNT_NAMESPACE)
    assert is_satisfied(PolicyRule.of(a_rule("get list")), granted)


def test_a_role_binding_grants_nothing_everywhere_csv_md_5_6() -> None:
    assert Grants(ROLE, BINDING).of(ACCOUNT, ACCOUNT_NAMESPACE) == ()


@pytest.mark.parametrize(
    ("desired", "granted", "want"),
    [
        pytest.param(a_rule("get list"), a_rule("get"), False, id="csv.md 18 row 227: each verb"),
        pytest.param(a_rule(resources="a b c"), a_rule(resources="a b"), False, id="csv.md 18 row 228: each resource"),
        pytest.param(a_rule(groups="a b"), a_rule(groups="a"), False, id="csv.md 18 row 231: each group"),
        pytest.param(a_rule("get", "a b", "c d"), a_rule("*", "*", "*"), True, id="csv.md 18 row 231: full product"),
        pytest.param(a_rule(groups=""), a_rule(groups=""), True, id="csv.md 5.6: an empty dimension is one value"),
        pytest.param(a_rule("*"), a_rule("get list"), False, id="csv.md 5.6: a wanted wildcard needs a granted one"),
        pytest.param(a_rule("*"), a_rule("*"), True, id="csv.md 5.6: wildcard for wildcard"),
        pytest.param(
            a_rule(resourceNames=["x"]), a_rule(resourceNames=["x", "y"]), True, id="csv.md 18 row 230: a named object"
        ),
        pytest.param(a_rule(resourceNames=["z"]), a_rule(resourceNames=["x"]), False, id="csv.md 5.6: another name"),
        pytest.param(a_rule(), a_rule(resourceNames=["x"]), False, id="csv.md 5.6: one object is not all of them"),
        pytest.param(a_rule(resourceNames=["x"]), a_rule(), True, id="csv.md 5.6: all of them include one"),
        pytest.param(a_rule(resources="d/scale"), a_rule(resources="*/scale"), True, id="a subresource of anything"),
        pytest.param(a_rule(resources="d/status"), a_rule(resources="*/scale"), False, id="another subresource"),
        pytest.param(a_rule(resources="d/scale"), a_rule(resources="d"), False, id="a resource is not its subresource"),
    ],
)
def test_resources(desired: Manifest, granted: Manifest, want: bool) -> None:
    assert is_satisfied(PolicyRule.of(desired), (PolicyRule.of(granted),)) is want


@pytest.mark.parametrize(
    ("desired", "granted", "want"),
    [
        pytest.param("/osbs", "/osbs/*", False, id="csv.md 5.6: a path is not below itself"),
        pytest.param("/osbs/x", "/osbs/*", True, id="csv.md 5.6: below"),
        pytest.param("/osbs", "/osbs", True, id="csv.md 18 row 226: the path itself"),
        pytest.param("/osbs", "*", True, id="csv.md 5.6: any path"),
    ],
)
def test_paths(desired: str, granted: str, want: bool) -> None:
    # The granted one has a verb more, so that equality does not decide.
    rule = {"verbs": ["get", "put"], "nonResourceURLs": [granted]}
    assert is_satisfied(a_url_rule(desired), (PolicyRule.of(rule),)) is want


def test_every_path_counts_csv_md_18_row_229() -> None:
    rule = {"verbs": ["get", "put"], "nonResourceURLs": ["/a"]}
    assert not is_satisfied(a_url_rule("/a", "/b"), (PolicyRule.of(rule),))


@pytest.mark.parametrize(
    ("rule", "want"),
    [
        pytest.param(a_rule(), "", id="a good rule"),
        pytest.param({"resources": ["r"]}, "policy rule must have at least one verb", id="csv.md 18 row 4: no verbs"),
        pytest.param(
            a_rule(nonResourceURLs=["/x"]), "rule cannot apply to both regular resources and non-resource URLs",
            id="csv.md 18 row 3: resources and paths",
        ),
        pytest.param({"verbs": ["get"], "nonResourceURLs": ["/x"]}, "", id="paths only"),
    ],
)  # fmt: skip
def test_defect(rule: Manifest, want: str) -> None:
    assert PolicyRule.of(rule).defect() == want
