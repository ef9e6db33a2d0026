import pytest

from shared import names
from shared.api.manifest import Manifest, labels_of, metadata, name_of, namespace_of
from shared.api.views import Csv
from shared.domain.csv.rbac import objects_for
from shared.domain.csv.strategy import UnknownStrategy, strategy_of
from shared.domain.objects import hashes

RULE = {"verbs": ["get"], "apiGroups": ["g"], "resources": ["r"]}


def a_csv(strategy: str = "deployment", **spec: object) -> Manifest:
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": "a"},
        "spec": {"install": {"strategy": strategy, "spec": spec}},
    }


def a_permission(account: str = "sa") -> Manifest:
    return {"serviceAccountName": account, "rules": [RULE]}


CSV = a_csv(
    permissions=[a_permission("two"), a_permission("one")],
    clusterPermissions=[a_permission("one"), a_permission("default")],
)


def test_objects_come_per_account_in_the_order_of_catalog_md_4_6() -> None:
    assert [(item["kind"], namespace_of(item)) for item in objects_for(Csv(CSV), "ns")] == [
        ("ServiceAccount", "ns"), ("Role", "ns"), ("RoleBinding", "ns"),
        ("ServiceAccount", "ns"), ("Role", "ns"), ("RoleBinding", "ns"),
        ("ClusterRole", ""), ("ClusterRoleBinding", ""),
        ("ClusterRole", ""), ("ClusterRoleBinding", ""),
    ]  # fmt: skip


def test_the_default_account_is_never_made() -> None:
    accounts = [name_of(item) for item in objects_for(Csv(CSV), "ns") if item["kind"] == "ServiceAccount"]
    assert accounts == ["two", "one"]


def test_names_are_the_ones_of_csv_md_16() -> None:
    csv = a_csv(permissions=[a_permission()], clusterPermissions=[a_permission()])
    assert [name_of(item) for item in objects_for(Csv(csv), "ns")] == [
        "sa",
        *["a-sa-9cdU2R807KLfI5VGSztsF0Vjd4QDsz8GFZx3VR"] * 2,
        *["a-5lnkS6S5QHBtsIeHkbHmtUOXd5gzfTxOtFsHgi"] * 2,
    ]


def test_names_are_made_of_what_olm_reads() -> None:
    """csv.md 16: fields that it does not know are no part of them, and names of fields have no case."""
    odd = {
        "ServiceAccountName": "sa",
        "note": "x",
        "rules": [{"Verbs": ["get"], "apigroups": ["g"], "resources": ["r"]}],
    }
    listed = [a_csv(permissions=[one], clusterPermissions=[one]) for one in (a_permission(), odd)]
    plain, written = (objects_for(Csv(csv), "ns") for csv in listed)
    assert [name_of(item) for item in written] == [name_of(item) for item in plain]
    assert [labels_of(item) for item in written] == [labels_of(item) for item in plain]
    assert [item["rules"] for item in written if "rules" in item] == [[RULE], [RULE]]


def test_permissions_of_the_wrong_shape_make_nothing() -> None:
    csv = a_csv(permissions=[{"serviceAccountName": 1}])
    assert strategy_of(Csv(csv)) == UnknownStrategy("install strategy: serviceAccountName: wanted text, got a number")
    assert objects_for(Csv(csv), "ns") == ()


def test_labels_and_owner_of_a_role_and_its_binding() -> None:
    _, role, binding = objects_for(Csv(a_csv(permissions=[a_permission()])), "ns")
    owner = {names.OWNER: "a", names.OWNER_NAMESPACE: "ns", names.OWNER_KIND: "ClusterServiceVersion"}
    assert labels_of(role) == {**owner, names.MANAGED: "true", names.PERMISSIONS_HASH: hashes.rules_hash([RULE])}
    assert binding["roleRef"] == {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "Role",
        "name": name_of(role),
    }
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "sa", "namespace": "ns"}]
    assert labels_of(binding)[names.PERMISSIONS_HASH] == hashes.binding_hash(binding["roleRef"], binding["subjects"])
    assert metadata(role)["ownerReferences"] == [
        {
            "apiVersion": "operators.coreos.com/v1alpha1",
            "kind": "ClusterServiceVersion",
            "name": "a",
            "uid": "",
            "controller": False,
            "blockOwnerDeletion": False,
        }
    ]


def test_cluster_scoped_objects_have_owner_labels_only_and_their_hash_names_the_cluster_role() -> None:
    _, role, binding = objects_for(Csv(a_csv(clusterPermissions=[a_permission()])), "ns")
    assert "ownerReferences" not in metadata(role)
    assert labels_of(role)[names.OWNER_NAMESPACE] == "ns"
    assert binding["roleRef"]["kind"] == "ClusterRole"
    assert labels_of(binding)[names.PERMISSIONS_HASH] == hashes.binding_hash(binding["roleRef"], binding["subjects"])


@pytest.mark.parametrize(
    "csv",
    [
        pytest.param(a_csv(), id="no permissions"),
        pytest.param(a_csv("helm", permissions=[a_permission()]), id="a strategy that nobody can install"),
        pytest.param({"metadata": {"name": "a"}}, id="no spec"),
    ],
)
def test_nothing_is_needed_for(csv: Manifest) -> None:
    assert objects_for(Csv(csv), "ns") == ()


def test_a_bundle_that_is_wrong_about_its_api_group_still_gets_a_valid_owner() -> None:
    csv = {**a_csv(permissions=[a_permission()]), "apiVersion": "binding.operators.coreos.com/v1alpha1"}
    owners = [metadata(item)["ownerReferences"][0]["apiVersion"] for item in objects_for(Csv(csv), "ns")]
    assert set(owners) == {"operators.coreos.com/v1alpha1"}
