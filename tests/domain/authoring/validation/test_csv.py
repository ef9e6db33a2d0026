"""A ClusterServiceVersion by itself."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.authoring.validation import Finding
from tests.domain.authoring.validation.world import a_csv, errors, found, modes, owned, warnings

ABOUT = "Error: Value : (tea.v1.0.0) "


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (Finding("Error", "d", field="F", value="v"), "Error: Field F, Value v: d"),
        (Finding("Error", "d", field="F"), "Error: Field F: d"),
        (Finding("Warning", "d", value=""), "Warning: Value : d"),
        (Finding("Warning", "d"), "ErrMessageMissing"),
    ],
)
def test_fbc_md_11_4_the_text_of_a_finding(finding: Finding, text: str) -> None:
    assert str(finding) == text


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param({"installModes": []}, "install modes not found", id="fbc.md R260: no install modes"),
        pytest.param({"installModes": modes()}, "none of InstallModeTypes are supported", id="none supported"),
        pytest.param({"installModes": modes("OwnNamespace") * 2}, "duplicate install modes present", id="twice"),
        pytest.param({"replaces": "A"}, 'spec.replaces "A" is invalid: a lowercase RFC 1123 subdomain', id="replaces"),
        pytest.param(
            {"minKubeVersion": "1.21"}, "csv.Spec.MinKubeVersion has an invalid value: 1.21", id="fbc.md R287: 1.21"
        ),
    ],
)
def test_a_specification(spec: dict[str, Any], words: str) -> None:
    [found_errors] = errors(csv=a_csv(**spec))
    assert found_errors.startswith(ABOUT + words)


def test_fbc_md_11_5_a_kubernetes_version_should_be_stated() -> None:
    [found_errors] = warnings(csv=a_csv(minKubeVersion=" "))
    assert found_errors.startswith("Warning: Value : (tea.v1.0.0) csv.Spec.minKubeVersion is not informed.")


def test_fbc_md_r283_a_name_has_63_bytes_at_most() -> None:
    csv = a_csv()
    csv["metadata"]["name"] = "a" * 64
    assert errors(csv=csv) == [
        f'Error: Value : ({"a" * 64}) metadata.name "{"a" * 64}" is invalid: must be no more than 63 bytes'
    ]


@pytest.mark.parametrize(
    ("annotations", "words"),
    [
        pytest.param(None, "annotations not found", id="no annotations"),
        pytest.param({"a": "b"}, "example annotations not found", id="no examples"),
        pytest.param({"alm-examples": ""}, "provided API should have an example annotation", id="fbc.md R285: empty"),
        pytest.param(
            {"alm-examples": "null"}, "provided API should have an example annotation", id="null is no example"
        ),
    ],
)
def test_examples_that_are_missing_are_a_warning(annotations: dict[str, str] | None, words: str) -> None:
    csv = a_csv()
    csv["metadata"]["annotations"] = annotations
    [found_errors] = warnings(csv=csv)
    assert words in found_errors


def test_fbc_md_11_5_of_two_annotations_one_is_read() -> None:
    [found_errors] = warnings(csv=a_csv({"olm.examples": "[]"}))
    assert "both `alm-examples` and `olm.examples` are present. Checking only `alm-examples`" in found_errors


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(
            '[{"a": b}]',
            "Error: Value invalid character at 8\n [{\"a\": b<--(see the invalid character): invalid example",
            id="fbc.md R284: broken JSON",
        ),
        pytest.param("[" * 100_000, "invalid example", id="deep and broken"),
        pytest.param("[" * 900 + "]" * 900, "error decoding example CustomResource", id="deep"),
        pytest.param("9" * 5000, "invalid example", id="a number beyond all numbers"),
        pytest.param("3", "Error: Value 3: error decoding example CustomResource", id="no list"),
        pytest.param("{}", "Error: Value {}: error decoding example CustomResource", id="an object"),
        pytest.param(
            '[{"apiVersion": "tea.io/v1", "kind": "Pot"}, {"apiVersion": "v1", "kind": "Cup"}]',
            "Error: Value /v1, Kind=Cup: example must have a provided API",
            id="an example of something else",
        ),
    ],
)  # fmt: skip
def test_examples_that_are_wrong_are_an_error(text: str, words: str) -> None:
    [found_errors] = errors(csv=a_csv({"alm-examples": text}))
    assert words in found_errors


def test_fbc_md_11_5_an_owned_definition_without_a_group_is_reported() -> None:
    found_errors = errors(csv=a_csv(customresourcedefinitions={"owned": [owned(), owned(name="pots")]}))
    assert "Error: Value pots: couldn't parse plural.group from crd name: pots" in found_errors


def test_an_api_service_wants_an_example_too() -> None:
    services = {"owned": [{"group": "tea.io", "version": "v2", "kind": "Cup", "name": "cups"}]}
    reported = "Warning: Value tea.io/v2, Kind=Cup: provided API should have an example annotation"
    assert warnings(csv=a_csv(apiservicedefinitions=services))[0] == reported


@pytest.mark.parametrize(
    ("spec", "field", "kind"),
    [
        pytest.param({"displayName": None}, "Spec.DisplayName", "field", id="no name to show"),
        pytest.param({"install": None}, "Spec.InstallStrategy", "struct", id="no strategy at all"),
        pytest.param(
            {"install": {"spec": {"deployments": [{}]}}}, "Spec.InstallStrategy.StrategyName", "field", id="no strategy"
        ),
        pytest.param(
            {"install": {"strategy": "deployment", "spec": {"permissions": [{}]}}},
            "Spec.InstallStrategy.StrategySpec.DeploymentSpecs",
            "field",
            id="no Deployments",
        ),
    ],
)
def test_fbc_md_11_5_a_required_field_that_is_missing(spec: dict[str, Any], field: str, kind: str) -> None:
    assert errors(csv=a_csv(**spec)) == [f"Error: Field {field}, Value {kind}: required field missing"]


def test_fbc_md_11_5_an_empty_list_is_not_missing() -> None:
    assert errors(csv=a_csv(install={"strategy": "deployment", "spec": {"deployments": []}})) == []


def test_fbc_md_11_5_an_empty_version_lacks_everything() -> None:
    found_errors = errors(csv={"kind": "ClusterServiceVersion"})
    assert "Error: Field ObjectMeta, Value struct: required field missing" in found_errors
    assert "Error: Field Spec, Value struct: required field missing" in found_errors
    assert "Error: Value : () 'apiVersion' is missing" in found_errors


def test_fbc_md_r266_annotations_in_the_wrong_case() -> None:
    given = {"olm.operatorgroup": "a", "olm.operatornamespace": "b", "olm.skiprange": "c", "olm.providedAPIs": "d"}
    words = "provided annotation {} uses wrong case and should be {} instead"
    assert errors(csv=a_csv(given)) == [
        f"Error: Value tea.v1.0.0: {words.format(right.lower(), right)}"
        for right in ("olm.operatorGroup", "olm.operatorNamespace", "olm.skipRange")
    ]


def test_fbc_md_r288_properties_belong_into_their_file() -> None:
    [found_errors] = found(csv=a_csv({"olm.properties": "[]"}))
    assert not found_errors.is_error
    assert found_errors.detail == (
        "found olm.properties annotation, please define these properties in metadata/properties.yaml instead"
    )
    assert found_errors.path == "manifests/csv.yaml"
