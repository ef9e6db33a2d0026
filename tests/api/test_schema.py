from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from eventing.deploy.crds import render_crds, render_lines
from shared import kinds
from shared.api.crds import FILE, definitions
from shared.api.definitions import DEFINITIONS
from shared.api.expressions import V1
from shared.api.resource import Definition
from shared.api.schema import custom_resource_definition

ANNOTATION_LIMIT = 262_144
CRDS = Path(__file__).parents[2] / "k8s" / "crds"
BY_KIND = {definition.kind: definition for definition in DEFINITIONS}
EVERY_KIND = pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.kind)


def schema_of(kind: str, version: int = 0) -> dict[str, Any]:
    crd = custom_resource_definition(BY_KIND[kind])
    schema: dict[str, Any] = crd["spec"]["versions"][version]["schema"]["openAPIV3Schema"]
    return schema


def field(kind: str, *path: str, version: int = 0) -> dict[str, Any]:
    schema = schema_of(kind, version)
    for name in path:
        schema = schema["items"] if name == "[]" else schema["properties"][name]
    return schema


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for child in schema.get("properties", {}).values():
        yield from nodes(child)
    if "items" in schema:
        yield from nodes(schema["items"])


def test_the_files_are_current() -> None:
    assert {path.name: path.read_text() for path in CRDS.glob("*.*.yaml")} == dict(render_crds())


def test_what_our_programs_read_is_current() -> None:
    assert FILE.read_bytes() == render_lines()
    assert definitions() == tuple(map(custom_resource_definition, DEFINITIONS))


def test_the_files_are_yaml_of_one_definition_each() -> None:
    assert [yaml.safe_load(text)["metadata"]["name"] for text in render_crds().values()] == [
        definition.name for definition in DEFINITIONS
    ]


def test_code_looks_for_every_kind_that_is_defined() -> None:
    assert BY_KIND.keys() <= {kind.kind for kind in kinds.KINDS}


@pytest.mark.parametrize("kind", [kind for kind in kinds.KINDS if kind.kind in BY_KIND], ids=lambda kind: kind.kind)
def test_the_kind_is_served_where_the_code_looks_for_it(kind: kinds.Kind) -> None:
    definition = BY_KIND[kind.kind]
    stored = definition.versions[0].name

    assert (kind.plural, kind.is_namespaced) == (definition.plural, definition.scope == "Namespaced")
    assert kind.api_version == f"{definition.group}/{stored}"


@EVERY_KIND
def test_one_version_is_stored_all_have_a_status(definition: Definition) -> None:
    versions = custom_resource_definition(definition)["spec"]["versions"]

    assert [version["storage"] for version in versions] == [True, *[False] * (len(versions) - 1)]
    assert all(version["subresources"] == {"status": {}} for version in versions)


@EVERY_KIND
def test_the_schema_is_structural(definition: Definition) -> None:
    for version in custom_resource_definition(definition)["spec"]["versions"]:
        for node in nodes(version["schema"]["openAPIV3Schema"]):
            assert node.get("type") or node.get("x-kubernetes-int-or-string")
            assert not node.keys() & {"$ref", "$defs", "anyOf", "title", "const", "x-default"}
            assert not {"properties", "additionalProperties"} <= node.keys()


def undescribed(schema: dict[str, Any], path: str) -> Iterator[str]:
    schema = schema.get("items", schema)
    for name, child in schema.get("properties", {}).items():
        if (path, name) != ("", "metadata") and not child.get("description"):
            yield f"{path}.{name}"
        yield from undescribed(child, f"{path}.{name}")


@EVERY_KIND
def test_kubectl_explains_every_field(definition: Definition) -> None:
    for version in custom_resource_definition(definition)["spec"]["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        assert schema["description"]
        assert list(undescribed(schema, "")) == []


@EVERY_KIND
def test_a_client_side_apply_can_remember_the_definition(definition: Definition) -> None:
    whole = json.dumps(custom_resource_definition(definition))

    assert len(whole.encode()) < ANNOTATION_LIMIT / 4, "annotations may have 262,144 bytes in all"


@EVERY_KIND
def test_a_status_keeps_fields_of_later_versions(definition: Definition) -> None:
    if definition.group == V1:
        return  # the definitions of OLM v1 are those that a cluster may have already
    assert field(definition.kind, "status")["x-kubernetes-preserve-unknown-fields"] is True


@pytest.mark.parametrize(
    ("kind", "short_names", "columns"),
    [
        pytest.param(
            "CatalogSource",
            ["catsrc"],
            {
                "Display": ".spec.displayName",
                "Type": ".spec.sourceType",
                "Publisher": ".spec.publisher",
                "Age": ".metadata.creationTimestamp",
            },
            id="catalog.md 2: CatalogSource",
        ),
        pytest.param(
            "Subscription",
            ["sub", "subs"],
            {"Package": ".spec.name", "Source": ".spec.source", "Channel": ".spec.channel"},
            id="catalog.md 3: Subscription",
        ),
        pytest.param(
            "InstallPlan",
            ["ip"],
            {
                "CSV": ".spec.clusterServiceVersionNames[0]",
                "Approval": ".spec.approval",
                "Approved": ".spec.approved",
            },
            id="catalog.md 4: InstallPlan",
        ),
        pytest.param(
            "ClusterServiceVersion",
            ["csv", "csvs"],
            {
                "Display": ".spec.displayName",
                "Version": ".spec.version",
                "Release": ".spec.release",
                "Replaces": ".spec.replaces",
                "Phase": ".status.phase",
            },
            id="csv.md 2: ClusterServiceVersion",
        ),
        pytest.param("OperatorGroup", ["og"], {}, id="csv.md 8: OperatorGroup"),
        pytest.param("OperatorCondition", ["condition"], {}, id="csv.md 11: OperatorCondition"),
        pytest.param("Operator", [], {}, id="csv.md 12: Operator"),
        pytest.param("OLMConfig", [], {}, id="csv.md 10.5: OLMConfig"),
    ],
)
def test_names_and_columns(kind: str, short_names: list[str], columns: dict[str, str]) -> None:
    spec = custom_resource_definition(BY_KIND[kind])["spec"]

    assert spec["names"].get("shortNames", []) == short_names
    assert spec["names"]["categories"] == ["olm"]
    for version in spec["versions"]:
        assert {x["name"]: x["jsonPath"] for x in version.get("additionalPrinterColumns", [])} == columns


@pytest.mark.parametrize(
    ("kind", "path", "facts"),
    [
        pytest.param(
            "OperatorGroup",
            ("spec", "upgradeStrategy"),
            {"default": "Default", "enum": ["Default", "TechPreviewUnsafeFailForward"]},
            id="csv.md 8.1: upgradeStrategy",
        ),
        pytest.param("OperatorGroup", ("spec",), {"default": {"upgradeStrategy": "Default"}}, id="csv.md 8.1: spec"),
        pytest.param("OperatorGroup", ("status",), {"required": ["lastUpdated"]}, id="csv.md 8.1: lastUpdated"),
        pytest.param(
            "OperatorGroup",
            ("spec", "targetNamespaces"),
            {"x-kubernetes-list-type": "set"},
            id="csv.md 8.1: targetNamespaces is a set",
        ),
        pytest.param(
            "ClusterServiceVersion",
            ("spec",),
            {"required": ["displayName", "install"], "x-kubernetes-preserve-unknown-fields": True},
            id="csv.md 2.1: what a version must say",
        ),
        pytest.param(
            "ClusterServiceVersion",
            ("spec", "webhookdefinitions", "[]", "containerPort"),
            {"default": 443, "minimum": 1, "maximum": 65535},
            id="csv.md 2.1: containerPort",
        ),
        pytest.param(
            "ClusterServiceVersion",
            ("spec", "webhookdefinitions", "[]", "type"),
            {"enum": ["ValidatingAdmissionWebhook", "MutatingAdmissionWebhook", "ConversionWebhook"]},
            id="csv.md 2.1: types of webhooks",
        ),
        pytest.param(
            "ClusterServiceVersion",
            ("spec", "install", "spec", "deployments", "[]", "spec"),
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            id="csv.md 2.1: a whole DeploymentSpec",
        ),
        pytest.param("ClusterServiceVersion", ("spec", "release"), {"maxLength": 20}, id="csv.md 2.1: release"),
        pytest.param(
            "InstallPlan",
            ("spec",),
            {"required": ["clusterServiceVersionNames", "approval", "approved"]},
            id="catalog.md 4.1: what a plan must say",
        ),
        pytest.param(
            "InstallPlan", ("status",), {"required": ["phase", "catalogSources"]}, id="catalog.md 4.1: its status"
        ),
        pytest.param(
            "Subscription",
            ("spec",),
            {"required": ["source", "sourceNamespace", "name"]},
            id="catalog.md 3.1: what a Subscription must say",
        ),
        pytest.param("CatalogSource", ("spec",), {"required": ["sourceType"]}, id="catalog.md 2.1: sourceType"),
        pytest.param(
            "CatalogSource",
            ("spec", "grpcPodConfig", "extractContent"),
            {"required": ["catalogDir"]},
            id="catalog.md 2.1: catalogDir",
        ),
        pytest.param(
            "CatalogSource",
            ("status", "conditions"),
            {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
            id="catalog.md 2.1: conditions by type",
        ),
        pytest.param(
            "OLMConfig",
            ("spec", "features", "packageServerSyncInterval"),
            {"pattern": r"^([0-9]+(\.[0-9]+)?(s|m|h))+$"},
            id="csv.md 10.5: packageServerSyncInterval",
        ),
        pytest.param(
            "OperatorCondition",
            ("spec", "overrides", "[]"),
            {"required": ["type", "status", "reason", "message"]},
            id="csv.md 11.1: overrides",
        ),
    ],
)
def test_facts_of_fields(kind: str, path: tuple[str, ...], facts: dict[str, Any]) -> None:
    assert facts.items() <= field(kind, *path).items()


def test_the_first_version_of_operator_condition_has_no_reports() -> None:
    """csv.md 11.1: v1 has no spec.conditions."""
    assert "conditions" not in field("OperatorCondition", "spec", version=1)["properties"]
    assert "conditions" in field("OperatorCondition", "spec")["properties"]


def test_docstrings_of_fields_are_descriptions() -> None:
    assert field("Subscription", "spec", "source")["description"] == "Name of the CatalogSource."
    assert field("OperatorGroup", "spec", "targetNamespaces")["description"] == "Exactly these namespaces."
