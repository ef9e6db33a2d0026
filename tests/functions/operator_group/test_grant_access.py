from __future__ import annotations

from typing import Any

import pytest

from functions.operator_group.grant_access import grant_access
from shared.kinds import CLUSTER_ROLE, OPERATOR_GROUP
from shared.step import Apply, Delete, Outcome
from tests.functions.operator_group.builders import a_csv, a_group
from tests.kit.cluster import FakeCluster

REF = OPERATOR_GROUP.ref("g", "ns")
GOOSE_CRD = "geese.birds.com/v1/Goose"
GOOSE = "Goose.v1.birds.com"
NEEDS_ROLES = {"permissions": [{"serviceAccountName": "sa", "rules": []}]}


def a_definition(uid: str = "crd-uid") -> dict[str, Any]:
    meta = {"name": "geese.birds.com", "uid": uid}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": meta}


def run(*objects: dict[str, Any]) -> Outcome:
    return grant_access(REF, FakeCluster(objects))


def applied(outcome: Outcome) -> dict[str, dict[str, Any]]:
    manifests = [write.manifest for write in outcome.writes if isinstance(write, Apply)]
    metas = [manifest["metadata"] for manifest in manifests]
    return {
        f"{manifest['kind']}/{meta.get('namespace', '')}/{meta['name']}": manifest
        for manifest, meta in zip(manifests, metas, strict=True)
    }


def settled(*objects: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects, and everything that the step writes for them."""
    return [*objects, *applied(run(*objects)).values()]


def a_role(kind: str = "Role", *, csv: dict[str, Any], **content: Any) -> dict[str, Any]:
    meta = {
        "name": "op-role",
        "namespace": "ns",
        "labels": {
            "olm.owner": csv["metadata"]["name"],
            "olm.owner.namespace": "ns",
            "olm.owner.kind": "ClusterServiceVersion",
        },
        "ownerReferences": [
            {
                "apiVersion": "operators.coreos.com/v1alpha1",
                "kind": "ClusterServiceVersion",
                "name": csv["metadata"]["name"],
                "uid": csv["metadata"]["uid"],
            }
        ],
    }
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": meta, **content}


def rights_of(csv: dict[str, Any]) -> list[dict[str, Any]]:
    role_ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "op-role"}
    subjects = [{"kind": "ServiceAccount", "name": "sa"}]
    return [
        a_role(csv=csv, rules=[{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]),
        a_role("RoleBinding", csv=csv, roleRef=role_ref, subjects=subjects),
    ]


def test_a_group_has_three_roles_also_without_apis() -> None:
    """csv.md 8.7: created for every group, even with no APIs; 18.5 row 121: no APIs, no rule."""
    roles = applied(run(a_group("default", targets=[""]), a_group(targets=["a"])))

    assert [name.partition("-")[0] for name in roles] == [
        "ClusterRole//olm.og.g.admin",
        "ClusterRole//olm.og.g.edit",
        "ClusterRole//olm.og.g.view",
    ]
    for role in roles.values():
        assert role["rules"] == []
        assert "aggregationRule" not in role
        assert role["metadata"]["labels"] == {
            "olm.managed": "true",
            "olm.owner": "g",
            "olm.owner.namespace": "ns",
            "olm.owner.kind": "OperatorGroup",
        }


def test_a_group_whose_name_no_label_holds_still_serves_its_operators() -> None:
    """csv.md 8.7 and 8.8: its own roles would be refused; those of the APIs and of the operators are not about it."""
    group = a_group("g" * 64, targets=["a"])
    csv = a_csv(member_of=group, owns=[GOOSE_CRD])

    outcome = grant_access(OPERATOR_GROUP.ref("g" * 64, "ns"), FakeCluster([group, csv, a_definition()]))

    assert len(applied(outcome)) == 4
    assert not [name for name in applied(outcome) if "olm.og." in name]
    assert "a shorter name" in outcome.verdict


def test_roles_aggregate_every_provided_api() -> None:
    """csv.md 8.3 step 6: the annotation and what members own; 8.7: sorted selectors; 18.5 row 112."""
    group = a_group(targets=["a"], provided="Cow.v1.m.com")

    roles = applied(run(group, a_csv(member_of=group, owns=[GOOSE_CRD], phase="Pending")))

    (admin,) = (role for name, role in roles.items() if "olm.og.g.admin-" in name)
    labels = [next(iter(item["matchLabels"])) for item in admin["aggregationRule"]["clusterRoleSelectors"]]
    assert len(labels) == 2
    assert labels == sorted(labels)
    assert all(label.startswith("olm.opgroup.permissions/aggregate-to-") for label in labels)
    assert all(label.endswith("-admin") for label in labels)


@pytest.mark.parametrize(
    "csv",
    [
        pytest.param({"labels": {"olm.copiedFrom": "far"}}, id="csv.md 10: a copy, whose group is elsewhere"),
        pytest.param({"deleted": True}, id="csv.md 4.8: a version that is being deleted"),
    ],
)
def test_versions_that_get_no_roles(csv: dict[str, Any]) -> None:
    group = a_group(targets=["a"])

    roles = applied(run(group, a_csv(member_of=group, owns=[GOOSE_CRD], **csv), a_definition()))

    assert [name for name in roles if "olm.og." not in name] == []


def test_nothing_is_written_twice() -> None:
    """csv.md 18.5 row 114: in sync, no update; foreign labels are kept."""
    group = a_group(targets=[""], provided=GOOSE)
    csv = a_csv(member_of=group, owns=[GOOSE_CRD], install=NEEDS_ROLES)
    csv["status"]["requirementStatus"] = [
        {"kind": "CustomResourceDefinition", "name": "geese.birds.com", "uuid": "crd-uid"}
    ]
    world = settled(group, csv, a_definition(), *rights_of(csv))
    for item in world:
        item["metadata"].setdefault("labels", {})["mine"] = "1"

    assert len([item for item in world if "geese.birds.com-v1-" in item["metadata"]["name"]]) == 4
    assert run(*world).writes == ()


def test_wrong_owner_labels_are_repaired() -> None:
    """csv.md 18.5 row 114."""
    group, *roles = settled(a_group(targets=["a"]))
    roles[0]["metadata"]["labels"]["olm.owner"] = "somebody"

    assert [write.manifest["metadata"]["name"] for write in run(group, *roles).writes if isinstance(write, Apply)] == [
        roles[0]["metadata"]["name"]
    ]


def test_roles_of_the_old_names_are_left_alone() -> None:
    """csv.md 18.5 row 113: kept; new-style roles are added."""
    meta = {"name": "g-admin", "uid": "old", "labels": {"olm.managed": "true"}}
    old = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": meta}

    outcome = run(a_group(targets=["a"]), old)

    assert len(applied(outcome)) == len(outcome.writes) == 3
    assert not [name for name in applied(outcome) if "g-admin" in name and "olm.og" not in name]


def test_the_roles_of_a_deleted_group_go() -> None:
    """csv.md 8.7, 8.11: found by owner labels; others stay."""
    _, *roles = settled(a_group(targets=["a"]))
    for role in roles:
        role["metadata"]["uid"] = "u"
    other = a_group("other", targets=["a"])

    outcome = run(other, *roles)

    assert outcome.writes == tuple(
        Delete(CLUSTER_ROLE.ref(role["metadata"]["name"]), "u")
        for role in sorted(roles, key=lambda role: str(role["metadata"]["name"]))
    )


def test_the_roles_of_a_provided_api() -> None:
    """csv.md 8.8: admin, edit, view, crdview; names, rules, labels, owner; 18.8 row 151: a real kind."""
    group = a_group(targets=["a"], provided=GOOSE)
    csv = a_csv(member_of=group, owns=[GOOSE_CRD])
    csv["status"]["requirementStatus"] = [
        {"kind": "CustomResourceDefinition", "name": "geese.birds.com", "uuid": "crd-uid"}
    ]

    roles = applied(run(group, csv, a_definition()))

    rules = {name.rpartition("-")[2]: role["rules"] for name, role in roles.items() if "geese.birds.com-v1-" in name}
    one = {"apiGroups": ["birds.com"], "resources": ["geese"]}
    assert rules == {
        "admin": [{"verbs": ["*"], **one}],
        "edit": [{"verbs": ["create", "update", "patch", "delete"], **one}],
        "view": [{"verbs": ["get", "list", "watch"], **one}],
        "crdview": [
            {
                "verbs": ["get"],
                "apiGroups": ["apiextensions.k8s.io"],
                "resources": ["customresourcedefinitions"],
                "resourceNames": ["geese.birds.com"],
            }
        ],
    }
    view = roles["ClusterRole//geese.birds.com-v1-crdview"]["metadata"]
    assert set(view["labels"]) == {
        "rbac.authorization.k8s.io/aggregate-to-view",
        "olm.opgroup.permissions/aggregate-to-" + view_hash(roles) + "-view",
        "olm.managed",
    }
    (owner,) = view["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("CustomResourceDefinition", "geese.birds.com", "crd-uid")


def view_hash(roles: dict[str, dict[str, Any]]) -> str:
    """The hash by which the group's own role selects the API."""
    (role,) = (role for name, role in roles.items() if "olm.og.g.view-" in name)
    (selector,) = role["aggregationRule"]["clusterRoleSelectors"]
    label = str(next(iter(selector["matchLabels"])))
    return label.removeprefix("olm.opgroup.permissions/aggregate-to-").removesuffix("-view")


@pytest.mark.parametrize(
    "phase", [pytest.param("Pending", id="csv.md 8.8: not before"), pytest.param("Failed", id="csv.md 8.8: not failed")]
)
def test_api_roles_come_with_health(phase: str) -> None:
    group = a_group(targets=["a"], provided=GOOSE)
    csv = a_csv(member_of=group, owns=[GOOSE_CRD], phase=phase)

    assert not [name for name in applied(run(group, csv)) if "geese" in name]


def test_a_definition_that_is_gone_gets_no_roles() -> None:
    group = a_group(targets=["a"], provided=GOOSE)

    assert not [name for name in applied(run(group, a_csv(member_of=group, owns=[GOOSE_CRD]))) if "geese" in name]


def test_a_definition_is_looked_up_where_the_version_does_not_know_it() -> None:
    group = a_group(targets=["a"], provided=GOOSE)

    roles = applied(run(group, a_csv(member_of=group, owns=[GOOSE_CRD]), a_definition("found")))

    assert roles["ClusterRole//geese.birds.com-v1-admin"]["metadata"]["ownerReferences"][0]["uid"] == "found"


def test_roles_that_went_with_their_definition_stay_away() -> None:
    """csv.md 8.8: garbage collection deletes them with their owner, before the version has looked again."""
    group = a_group(targets=["a"], provided=GOOSE)
    csv = a_csv(member_of=group, owns=[GOOSE_CRD])
    known = {"kind": "CustomResourceDefinition", "name": "geese.birds.com", "uuid": "crd-uid"}
    csv["status"]["requirementStatus"] = [known]
    world = settled(group, csv, a_definition())
    left = [item for item in world if "geese.birds.com" not in item["metadata"]["name"]]

    assert run(*left).writes == ()


@pytest.mark.parametrize(
    "field", [pytest.param("rules", id="csv.md 8.8: rules differ"), pytest.param("labels", id="csv.md 8.8: labels do")]
)
def test_a_role_of_an_api_that_somebody_edited_is_repaired(field: str) -> None:
    group = a_group(targets=["a"], provided=GOOSE)
    world = settled(group, a_csv(member_of=group, owns=[GOOSE_CRD]), a_definition())
    (role,) = (item for item in world if item["metadata"]["name"] == "geese.birds.com-v1-edit")
    (role if field == "rules" else role["metadata"])[field] = {}

    assert list(applied(run(*world))) == ["ClusterRole//geese.birds.com-v1-edit"]


def test_the_roles_of_an_aggregated_api() -> None:
    """csv.md 8.8: owned APIService; nothing where the APIService is missing."""
    group = a_group(targets=["a"])
    csv = a_csv(member_of=group)
    services = [
        {"name": "cows", "version": version, "group": "m.com", "kind": "Cow", "deploymentName": "d"}
        for version in ("v1", "v2")
    ]
    csv["spec"]["apiservicedefinitions"] = {"owned": services}
    service = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": "v1.m.com", "uid": "s"},
    }

    roles = {name: role for name, role in applied(run(group, csv, service)).items() if "cows" in name}

    assert list(roles) == [f"ClusterRole//cows-v1-{suffix}" for suffix in ("admin", "edit", "view")]
    assert roles["ClusterRole//cows-v1-admin"]["metadata"]["ownerReferences"][0]["kind"] == "APIService"
    assert roles["ClusterRole//cows-v1-admin"]["rules"] == [
        {"verbs": ["*"], "apiGroups": ["m.com"], "resources": ["cows"]}
    ]


def test_rights_of_an_earlier_version_of_the_same_name_are_not_projected() -> None:
    """csv.md 8.9: owned by labels and UID."""
    group = a_group(targets=["a"])
    csv = a_csv(member_of=group, install=NEEDS_ROLES)
    copy = a_csv(namespace="a", labels={"olm.copiedFrom": "ns"})
    left = rights_of({"metadata": {**csv["metadata"], "uid": "earlier"}})

    assert not [name for name in applied(run(group, csv, copy, *left)) if "op-role" in name]


def test_rights_are_lifted_for_a_global_group() -> None:
    """csv.md 8.9, 18.5 row 116: same names and labels, plus sight of namespaces."""
    group = a_group(targets=[""])
    csv = a_csv(member_of=group, install=NEEDS_ROLES, phase="InstallReady")

    roles = applied(run(group, csv, *rights_of(csv)))

    role, binding = roles["ClusterRole//op-role"], roles["ClusterRoleBinding//op-role"]
    assert role["rules"] == [
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]},
        {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["namespaces"]},
    ]
    assert role["metadata"]["labels"] == rights_of(csv)[0]["metadata"]["labels"]
    assert "ownerReferences" not in role["metadata"]
    assert binding["roleRef"]["kind"] == "ClusterRole"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "sa", "namespace": "ns"}]


def test_a_cluster_role_of_somebody_else_is_left_alone() -> None:
    """csv.md 8.9: create if a same-named cluster object is absent."""
    group = a_group(targets=[""])
    csv = a_csv(member_of=group, install=NEEDS_ROLES)
    theirs = {**a_role("ClusterRole", csv=csv), "metadata": {"name": "op-role"}, "rules": []}

    assert "ClusterRole//op-role" not in applied(run(group, csv, *rights_of(csv), theirs))


def test_rights_are_projected_to_targets_that_have_a_copy() -> None:
    """csv.md 8.9, 18.5 row 115, row 132: owned by the copy; a target without copy is passed over."""
    group = a_group(targets=["a", "gone", "ns"])
    csv = a_csv(member_of=group, install=NEEDS_ROLES)
    copy = a_csv(namespace="a", labels={"olm.copiedFrom": "ns"})

    roles = applied(run(group, csv, copy, *rights_of(csv)))

    assert {name for name in roles if "op-role" in name} == {"Role/a/op-role", "RoleBinding/a/op-role"}
    role, binding = roles["Role/a/op-role"], roles["RoleBinding/a/op-role"]
    assert role["metadata"]["labels"] == {
        "olm.owner": "op.v1",
        "olm.owner.namespace": "a",
        "olm.owner.kind": "ClusterServiceVersion",
        "olm.copiedFrom": "ns",
        "olm.managed": "true",
    }
    assert role["metadata"]["ownerReferences"][0]["uid"] == "uid-a-op.v1"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "sa", "namespace": "ns"}]


def test_a_projected_role_that_was_changed_is_restored() -> None:
    """csv.md 8.9: an existing one gets its rules overwritten."""
    group = a_group(targets=["a"])
    csv = a_csv(member_of=group, install=NEEDS_ROLES)
    copy = a_csv(namespace="a", labels={"olm.copiedFrom": "ns"})
    world = settled(group, csv, copy, *rights_of(csv))
    assert run(*world).writes == ()

    (role,) = (item for item in world if item["kind"] == "Role" and item["metadata"]["namespace"] == "a")
    role["rules"] = []

    assert list(applied(run(*world))) == ["Role/a/op-role"]
