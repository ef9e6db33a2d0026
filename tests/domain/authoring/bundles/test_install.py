"""The install steps of a bundle."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest

from shared.domain.authoring.bundles.install import Installation, Target, install_steps, properties_annotation
from shared.domain.bundle.model import BadBundle
from shared.domain.bundle.reading import documents
from shared.domain.catalog.model import Property

RULES = [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]
CSV: dict[str, Any] = {
    "apiVersion": "operators.coreos.com/v1alpha1",
    "kind": "ClusterServiceVersion",
    "metadata": {"name": "test-csv.v1.1.0"},
    "spec": {"replaces": "older", "install": {"strategy": "deployment", "spec": {"deployments": []}}},
}
TARGET = Target("test-namespace")


def a_csv(**install: object) -> dict[str, Any]:
    spec = {"install": {"strategy": "deployment", "spec": {"deployments": [], **install}}}
    return CSV | {"spec": spec}


def files(csv: object, **others: object) -> dict[str, bytes]:
    made = {"csv": csv, **others}
    return {f"manifests/{name}.yaml": orjson.dumps(value) for name, value in made.items()}


def planned(csv: object, target: Target = TARGET, **others: object) -> Installation:
    found = install_steps(documents(files(csv, **others), "manifests"), target, "here")
    assert isinstance(found, Installation)
    return found


def listed(found: Installation) -> list[tuple[str, str]]:
    return [(step.kind, step.name) for step in found.steps]


def manifest(found: Installation, kind: str) -> dict[str, Any]:
    [text] = [step.manifest for step in found.steps if step.kind == kind]
    assert text.endswith("}\n")
    decoded: dict[str, Any] = json.loads(text)
    return decoded


def test_resolver_md_15_names_and_hashes_are_those_of_olm() -> None:
    grant = {"serviceAccountName": "sa1", "rules": RULES}
    found = planned(a_csv(permissions=[grant], clusterPermissions=[grant]))
    role, cluster = "test-csv.v1.1.0-sa1-9SnKltJFA6Je5JXV1QVzHjvMUeBw0A5TgAoIPf", "test-csv.v1.1.0-9fJF4QNq5AfXB2Kany7v5VdsLMWKRo2QPjLU8H"  # fmt: skip # noqa: E501
    assert listed(found) == [
        ("ClusterServiceVersion", "test-csv.v1.1.0"), ("ServiceAccount", "sa1"), ("Role", role), ("RoleBinding", role),
        ("ClusterRole", cluster), ("ClusterRoleBinding", cluster),
    ]  # fmt: skip
    labels = {
        kind: manifest(found, kind)["metadata"]["labels"]["olm.permissions.hash"] for kind, _ in listed(found)[2:]
    }
    assert labels == {
        "Role": "11rrkxEvVvfh9HkCh7cyssbBqZFy9B7koZklln",
        "RoleBinding": "5AcpU6SZH8YFPA9e2tlQlVJ3qTY1m0B7DzGL9X",
        "ClusterRole": "11rrkxEvVvfh9HkCh7cyssbBqZFy9B7koZklln",
        "ClusterRoleBinding": "5aslDhoUpmaCRUNN46KSsesTELeoNZC9Z0d5xW",
    }


def test_resolver_md_10_6_generated_objects_are_written_as_olm_writes_them() -> None:
    grant = {"serviceAccountName": "sa1", "rules": RULES, "unknown": 1}
    found = planned(a_csv(permissions=[grant], clusterPermissions=[grant]))
    owner = {
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "name": "test-csv.v1.1.0",
        "uid": "", "controller": False, "blockOwnerDeletion": False,
    }  # fmt: skip
    account = [step.manifest for step in found.steps if step.kind == "ServiceAccount"]
    declared = {"name": "sa1", "namespace": "test-namespace", "ownerReferences": [owner]}
    assert account == [json.dumps({"metadata": declared}, separators=(",", ":")) + "\n"]
    role = manifest(found, "Role")
    assert list(role) == ["metadata", "rules"]
    assert list(role["metadata"]) == ["name", "namespace", "labels", "ownerReferences"]
    assert role["metadata"]["ownerReferences"] == [owner]
    binding = manifest(found, "RoleBinding")
    assert list(binding) == ["metadata", "subjects", "roleRef"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "sa1", "namespace": "test-namespace"}]
    assert binding["roleRef"]["kind"] == "Role"
    cluster = manifest(found, "ClusterRoleBinding")
    assert cluster["metadata"]["namespace"] == "test-namespace"
    assert "namespace" not in manifest(found, "ClusterRole")["metadata"]
    assert cluster["metadata"]["labels"] | {"olm.permissions.hash": ""} == {
        "olm.owner": "test-csv.v1.1.0", "olm.owner.kind": "ClusterServiceVersion",
        "olm.owner.namespace": "test-namespace", "olm.permissions.hash": "",
    }  # fmt: skip


def test_resolver_md_10_6_accounts_come_by_name_and_each_with_its_permissions_by_kind() -> None:
    """resolver.md 14.4 and 12.7.125: two permissions of one account give two roles, then two bindings."""
    first, second = {"serviceAccountName": "b", "rules": RULES}, {"serviceAccountName": "b", "rules": []}
    found = planned(
        a_csv(permissions=[first, second], clusterPermissions=[{"serviceAccountName": "a", "rules": RULES}])
    )
    assert [kind for kind, _ in listed(found)] == [
        "ClusterServiceVersion", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "ServiceAccount", "Role",
        "Role", "RoleBinding", "RoleBinding",
    ]  # fmt: skip
    assert listed(found)[1][1] == "a"
    assert "namespace" not in json.loads(found.steps[1].manifest)["metadata"], "first seen under clusterPermissions"


def test_resolver_md_12_7_126_the_account_default_is_not_made() -> None:
    found = planned(a_csv(permissions=[{"serviceAccountName": "default", "rules": None}]))
    assert [kind for kind, _ in listed(found)] == ["ClusterServiceVersion", "Role", "RoleBinding"]
    assert manifest(found, "Role")["rules"] is None
    assert (
        manifest(found, "Role")["metadata"]["labels"]["olm.permissions.hash"]
        == "8svkgjrWNOjkQ01d1SG1sBJN8XPVhKn0GkNTVF"
    )


def test_resolver_md_10_4_versions_come_first_then_definitions_then_the_rest_in_the_order_of_files() -> None:
    found = planned(
        CSV,
        a={"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}},
        b={"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"generateName": "thing-"}},
        c={"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "d.x.io"}},
        d={"kind": "Odd", "metadata": 3},
    )
    assert [(step.kind, step.group, step.version, step.name) for step in found.steps] == [
        ("ClusterServiceVersion", "operators.coreos.com", "v1alpha1", "test-csv.v1.1.0"),
        ("CustomResourceDefinition", "apiextensions.k8s.io", "v1", "d.x.io"),
        ("BundleSecret", "", "v1", "s"),
        ("Thing", "x.io", "v1", "thing-"),
        ("Odd", "", "", ""),
    ]
    assert manifest(found, "BundleSecret")["kind"] == "Secret"


def test_objects_are_written_compact_sorted_and_with_html_escaped() -> None:
    found = planned(CSV, z={"kind": "ConfigMap", "data": {"b": "<", "a": "é"}, "apiVersion": "v1"})
    text = next(step.manifest for step in found.steps if step.kind == "ConfigMap")
    assert text == '{"apiVersion":"v1","data":{"a":"é","b":"\\u003c"},"kind":"ConfigMap"}\n'


def test_resolver_md_10_4_the_version_gets_its_namespace_what_it_replaces_and_its_properties() -> None:
    annotation = properties_annotation([Property("olm.package", {"version": "1", "packageName": "<a>"})])
    assert (
        annotation == '{"properties":[{"type":"olm.package","value":{"version":"1","packageName":"\\u003ca\\u003e"}}]}'
    )
    csv = {**CSV, "metadata": {"name": "n", "annotations": {"a": "b"}}, "status": {"phase": "x"}}
    found = manifest(planned(csv, Target("ns", "n0", annotation)), "ClusterServiceVersion")
    assert found["metadata"]["namespace"] == "ns"
    assert found["metadata"]["annotations"] == {"a": "b", "operatorframework.io/properties": annotation}
    assert found["spec"]["replaces"] == "n0"
    assert found["status"] == {"phase": "x", "cleanup": {}}
    assert "replaces" not in manifest(planned(CSV), "ClusterServiceVersion")["spec"], "even to nothing"
    assert properties_annotation([]) == "{}"


def test_resolver_md_10_4_a_version_keeps_the_group_that_it_states() -> None:
    declared = "binding.operators.coreos.com/v1alpha1"  # as in published bundles
    found = planned(a_csv(permissions=[{"serviceAccountName": "sa", "rules": RULES}]) | {"apiVersion": declared})
    assert (found.steps[0].group, found.steps[0].version) == ("binding.operators.coreos.com", "v1alpha1")
    assert [owner["apiVersion"] for owner in manifest(found, "Role")["metadata"]["ownerReferences"]] == [declared]


def test_resolver_md_10_4_values_of_any_type_are_kept_with_their_keys_sorted() -> None:
    described = [{"path": "a", "value": {"b": 1, "a": None}}, {"path": "b", "value": None}, {"path": "c"}]
    csv = CSV | {"spec": CSV["spec"] | {"customresourcedefinitions": {"owned": [{"specDescriptors": described}]}}}
    written = '"specDescriptors":[{"path":"a","value":{"a":null,"b":1}},{"path":"b","value":null},{"path":"c"}]'
    assert written in planned(csv).steps[0].manifest


def test_what_serves_is_listed_apart() -> None:
    """csv.md 7.1: no InstallPlan names the objects around a webhook."""
    deployment = {"name": "operator", "spec": {"template": {"spec": {"containers": []}}}}
    spec = a_csv(deployments=[deployment])["spec"]
    hook = {"generateName": "v.example.com", "deploymentName": "operator", "type": "ValidatingAdmissionWebhook"}
    found = planned(CSV | {"spec": spec | {"webhookdefinitions": [hook]}})
    assert [step.kind for step in found.served][:2] == ["Secret", "Service"]
    assert found.served[0].version == "v1"


def test_fbc_md_17_2_the_last_version_is_that_of_the_last_key() -> None:
    named = {"manifests/é.yaml": "first", "manifests/a.yaml": "last"}  # a ConfigMap has the key `-.yaml` for the first
    made = {path: orjson.dumps(CSV | {"metadata": {"name": name}}) for path, name in named.items()}
    found = install_steps(documents(made, "manifests"), TARGET, "here")
    assert isinstance(found, Installation)
    assert listed(found) == [("ClusterServiceVersion", "last")]


def test_fbc_md_r410_of_two_versions_the_last_one_is_installed() -> None:
    found = planned(CSV, later=CSV | {"metadata": {"name": "later"}})
    assert listed(found) == [("ClusterServiceVersion", "later")]
    assert [str(one) for one in found.passed] == [
        "manifests/csv.yaml is a second ClusterServiceVersion: only the last one is installed"
    ]


@pytest.mark.parametrize(
    ("csv", "words"),
    [
        pytest.param(
            {"kind": "ConfigMap"}, "here: no csv in bundle: manifests/ holds no", id="fbc.md R203: no version"
        ),
        pytest.param(3, "no csv in bundle: manifests/csv.yaml cannot be read: it holds a number", id="no object"),
        pytest.param({"spec": {}}, "Object 'Kind' is missing", id="fbc.md R205: no kind"),
        pytest.param({"kind": 3}, "its kind is a number", id="a number for a kind"),
        pytest.param(
            CSV | {"apiVersion": "a/b/c"}, "its apiVersion is 'a/b/c'", id="fbc.md 17.2: no group and version"
        ),
        pytest.param(
            {key: CSV[key] for key in CSV if key != "apiVersion"},
            "here: manifests/csv.yaml: bundle CSV test-csv.v1.1.0 missing APIVersion",
            id="resolver.md 10.4: no apiVersion",
        ),
        pytest.param(
            CSV | {"spec": {"version": 1}}, "csv.yaml: spec.version: wanted text, got a number", id="mistyped"
        ),
        pytest.param(
            CSV | {"spec": {"install": {"strategy": "helm"}}},
            "csv.yaml: unrecognized install strategy",
            id="resolver.md 10.6: another strategy",
        ),
    ],
)
def test_what_cannot_be_installed_is_refused_with_a_sentence(csv: object, words: str) -> None:
    found = install_steps(documents(files(csv), "manifests"), TARGET, "here")
    assert isinstance(found, BadBundle)
    assert words in found.message
