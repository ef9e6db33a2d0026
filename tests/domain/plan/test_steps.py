"""The steps of a bundle, and the references that stand in for manifests."""

from __future__ import annotations

import json

import pytest

from shared.api.manifest import Manifest, annotations_of, labels_of, name_of
from shared.api.views import Csv, PlanStep
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.plan.steps import Resource, installed_csv, objects, steps
from shared.domain.resolver.identity import CatalogKey
from shared.domain.unpack import references
from shared.domain.unpack.references import Reference
from tests.functions.subscription.world import a_bundle

KEY = CatalogKey("olm", "local")
REFERENCE = Reference("h", "olm", KEY, "etcd.v0", '{"properties":[]}')


def bundle(*others: Manifest) -> UnpackedBundle:
    made = a_bundle("etcd", "1.0.0", *others)
    return UnpackedBundle(made[0], made)


def test_a_reference_survives_the_way_through_a_plan() -> None:
    text = str(REFERENCE)
    assert json.loads(text) == {
        "kind": "ConfigMap", "name": "h", "namespace": "olm", "catalogSourceName": "local",
        "catalogSourceNamespace": "olm", "replaces": "etcd.v0", "properties": '{"properties":[]}',
    }  # fmt: skip
    assert references.parse(text) == REFERENCE


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("nonsense", id="no JSON"),
        pytest.param('{"kind":"ConfigMap","name":"h","namespace":"olm"}', id="catalog.md 4.6: a literal ConfigMap"),
        pytest.param(str(Reference("", "olm", KEY)), id="a reference to nothing"),
        pytest.param("[]", id="no object"),
    ],
)
def test_anything_else_is_a_literal_manifest(text: str) -> None:
    assert references.parse(text) is None


def test_the_csv_is_created_as_the_catalog_says() -> None:
    """catalog.md 4.6: namespace, replaces overwritten by the catalog's value, properties annotation."""
    csv = installed_csv(Csv(bundle().csv), "ns", REFERENCE)
    assert csv["metadata"]["namespace"] == "ns"
    assert csv["spec"]["replaces"] == "etcd.v0"
    assert annotations_of(csv)["operatorframework.io/properties"] == '{"properties":[]}'


@pytest.mark.parametrize(
    ("properties", "want"),
    [
        pytest.param('{"properties":[{"type":"olm.package","value":{"packageName":"a"}}]}', ("a",), id="one package"),
        pytest.param('{"properties":[{"type":"olm.package","value":"a"},7,{"type":"x"}]}', (), id="no package"),
        pytest.param('{"properties":[{"type":"olm.package","value":{}}]}', (), id="a package without name"),
        pytest.param("[]", (), id="no list of properties"),
        pytest.param("", (), id="nothing"),
    ],
)
def test_a_reference_names_the_package_of_its_bundle(properties: str, want: tuple[str, ...]) -> None:
    reference = Reference("h", "olm", KEY, "", properties)
    assert reference.packages == want
    labels = labels_of(installed_csv(Csv(bundle().csv), "ns", reference))
    assert [label for label in labels if label.startswith("operators.coreos.com/")] == [
        f"operators.coreos.com/{package}.ns" for package in want
    ]


def test_the_csv_loses_what_the_api_server_would_refuse() -> None:
    """Published bundles state null lists and another group's version."""
    raw = bundle().csv
    spec = {**raw["spec"], "customresourcedefinitions": {"owned": [{"name": "a", "resources": None}]}}
    csv = installed_csv(
        Csv({**raw, "apiVersion": "binding.operators.coreos.com/v1alpha1", "spec": spec}), "ns", REFERENCE
    )
    assert csv["apiVersion"] == "operators.coreos.com/v1alpha1"
    assert csv["spec"]["customresourcedefinitions"] == {"owned": [{"name": "a"}]}


def test_steps_come_in_order_csv_objects_generated_permissions() -> None:
    """catalog.md 5.4: per bundle CSV, objects, generated ServiceAccount and RBAC."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    made = list(steps(bundle(secret), "ns", REFERENCE))
    assert [step["resource"]["kind"] for step in made] == [
        "ClusterServiceVersion", "CustomResourceDefinition", "BundleSecret", "ServiceAccount", "Role", "RoleBinding",
        "ClusterRole", "ClusterRoleBinding",
    ]  # fmt: skip
    assert {step["resolving"] for step in made} == {"etcd.v1.0.0"}
    assert {step["status"] for step in made} == {"Unknown"}
    found = {Resource.of(one) for one in objects(bundle(secret), "ns", REFERENCE)}
    assert {Resource.of_step(PlanStep(step)) for step in made} == found, "every step finds its object again"


def test_what_a_bundle_brings_is_a_component_from_the_start_csv_md_12_3() -> None:
    """Adopted later, a definition would be written twice, which costs the API server most of an installation."""
    others = [{"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}} for kind in ("Secret", "Service")]
    properties = '{"properties":[{"type":"olm.package","value":{"packageName":"etcd"}}]}'
    made = objects(bundle(*others), "ns", Reference("h", "olm", KEY, "etcd.v0", properties))
    labelled = {one["kind"] for one in made if "operators.coreos.com/etcd.ns" in labels_of(one)}
    assert {one["kind"] for one in made} - labelled == {"Secret"}, "no Operator lists those"


def test_an_object_without_name_goes_by_its_generate_name() -> None:
    """catalog.md 4.6: the step name of an object without name is its generateName."""
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "settings-"}}
    assert Resource.of(made) == Resource("", "v1", "ConfigMap", "settings-")
    assert name_of(made) == ""
