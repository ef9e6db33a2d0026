from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.bundle.model import BadBundle, ParsedBundle
from shared.domain.bundle.parse import parse
from shared.domain.bundle.properties import properties
from shared.domain.catalog.from_bundles import Published, from_bundles, offer


def a_csv(**spec: object) -> dict[str, Any]:
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": "tea.v1.0.0"},
        "spec": {"version": "1.0.0", **spec},
    }


def a_bundle(csv: dict[str, Any], **more: object) -> dict[str, bytes]:
    prefix = "operators.operatorframework.io.bundle."
    labels = {
        f"{prefix}package.v1": "tea",
        f"{prefix}channels.v1": "stable,fast",
        f"{prefix}channel.default.v1": "fast",
    }
    files = {"manifests/csv.yaml": csv, "metadata/annotations.yaml": {"annotations": labels}}
    files |= {name.replace("__", "/") + ".yaml": value for name, value in more.items()}  # type: ignore[misc]
    return {path: orjson.dumps(value) for path, value in files.items()}


def of(csv: dict[str, Any], **more: object) -> dict[str, list[object]]:
    bundle = parse(a_bundle(csv, **more), "here")
    assert isinstance(bundle, ParsedBundle)
    found: dict[str, list[object]] = {}
    for one in properties(bundle):
        found.setdefault(one.type, []).append(one.value)
    return found


_TEA = {"packageName": "tea", "version": "1.0.0"}


def test_a_bundle_states_its_package_and_version() -> None:
    assert of(a_csv()) == {"olm.package": [_TEA]}


def test_provided_apis_are_every_version_of_its_definitions_and_its_owned_services() -> None:
    crd = {
        "kind": "CustomResourceDefinition",
        "spec": {"group": "x.io", "names": {"kind": "Tea"}, "versions": [{"name": "v1"}, {"name": "v2"}]},
    }
    old = {
        "kind": "CustomResourceDefinition",
        "spec": {"group": "y.io", "names": {"kind": "Pot"}, "version": "v1beta1"},
    }
    owned = {"owned": [{"group": "z.io", "version": "v1", "kind": "Cup", "name": "cups"}]}
    found = of(a_csv(apiservicedefinitions=owned), manifests__crd=crd, manifests__old=old)
    assert found["olm.gvk"] == [
        {"group": "x.io", "kind": "Tea", "version": "v1"},
        {"group": "x.io", "kind": "Tea", "version": "v2"},
        {"group": "y.io", "kind": "Pot", "version": "v1beta1"},
        {"group": "z.io", "kind": "Cup", "version": "v1"},
    ]


def test_required_apis_come_from_the_csv_and_from_dependencies_each_once() -> None:
    required = {"required": [{"name": "pots.y.io", "version": "v1", "kind": "Pot"}]}
    dependencies = {
        "dependencies": [
            {"type": "olm.gvk", "value": {"group": "y.io", "kind": "Pot", "version": "v1"}},
            {"type": "olm.package", "value": {"packageName": "milk", "version": ">=1.0.0"}},
            {"type": "olm.constraint", "value": {"failureMessage": "no"}},
        ]
    }
    found = of(a_csv(customresourcedefinitions=required), metadata__dependencies=dependencies)
    assert found["olm.gvk.required"] == [{"group": "y.io", "kind": "Pot", "version": "v1"}]
    assert found["olm.package.required"] == [{"packageName": "milk", "versionRange": ">=1.0.0"}]
    assert found["olm.constraint"] == [{"failureMessage": "no"}]


@pytest.mark.parametrize(
    ("annotation", "version"),
    [
        pytest.param("", "1.0.0", id="fbc.md 9.4: the CSV beats properties.yaml"),
        pytest.param(
            '[{"type":"olm.package","value":{"packageName":"tea","version":"9.9.9"}}]', "9.9.9", id="annotation"
        ),
        pytest.param("{not json", "1.0.0", id="fbc.md 9.4: an unreadable annotation states nothing"),
        pytest.param("3", "1.0.0", id="an annotation that is no list states nothing"),
    ],
)
def test_fbc_md_9_4_of_several_packages_the_last_source_counts(annotation: str, version: str) -> None:
    csv = a_csv()
    csv["metadata"]["annotations"] = {"olm.properties": annotation}
    stated = {"properties": [{"type": "olm.package", "value": {"packageName": "tea", "version": "0.0.1"}}]}
    assert of(csv, metadata__properties=stated)["olm.package"] == [{"packageName": "tea", "version": version}]


@pytest.mark.parametrize("annotation", ["{}", "[3]", "no JSON"])
def test_an_annotation_that_is_no_list_of_properties_states_nothing(annotation: str) -> None:
    csv = a_csv()
    csv["metadata"]["annotations"] = {"olm.properties": annotation}
    assert of(csv) == {"olm.package": [_TEA]}


def test_properties_of_the_annotation_and_the_file_are_kept() -> None:
    csv = a_csv()
    csv["metadata"]["annotations"] = {"olm.properties": '[{"type":"olm.maxOpenShiftVersion","value":"4.8"}]'}
    found = of(csv, metadata__properties={"properties": [{"type": "x", "value": 1}]})
    assert found == {"olm.package": [_TEA], "olm.maxOpenShiftVersion": ["4.8"], "x": [1]}


def test_channels_are_split_at_commas_and_trimmed() -> None:
    bundle = parse(a_bundle(a_csv()), "here")
    assert isinstance(bundle, ParsedBundle)
    assert bundle.annotations.channels == ("stable", "fast")
    assert bundle.annotations.default_channel == "fast"


@pytest.mark.parametrize(
    ("drop", "reason", "words"),
    [
        pytest.param(
            "manifests/csv.yaml", "NoClusterServiceVersion", "no ClusterServiceVersion", id="fbc.md 9.2: no CSV"
        ),
        pytest.param("metadata/annotations.yaml", "Malformed", "annotations.yaml", id="fbc.md 9.3: no annotations"),
    ],
)
def test_a_bundle_that_lacks_a_file_says_which(drop: str, reason: str, words: str) -> None:
    files = a_bundle(a_csv())
    del files[drop]
    verdict = parse(files, "quay.io/tea:1")
    assert isinstance(verdict, BadBundle)
    assert verdict.reason == reason
    assert words in verdict.message
    assert verdict.message.startswith("quay.io/tea:1: ")


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "tea", "1.0.0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "names", "kind", "versions", "required", "owned", "type", "value"]), inner
        )
    ),
    max_leaves=8,
)
_fields = ["replaces", "skips", "release", "version", "customresourcedefinitions", "apiservicedefinitions", "versions"]


@given(
    st.dictionaries(st.sampled_from(["name", "annotations", "labels"]), _values) | _values,
    st.dictionaries(st.sampled_from([*_fields, "names", "group"]), _values) | _values,
    _values,
)
def test_whatever_a_bundle_holds_it_is_offered_or_refused_with_a_reason(
    metadata: object, spec: object, listed: object
) -> None:
    csv = a_csv() | {"spec": spec}
    other = {"kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec}
    more = {"metadata__a": {"dependencies": listed}, "metadata__b": {"properties": listed}, "manifests__d": other}
    bundle = parse(a_bundle(csv, **more), "here")
    if isinstance(bundle, BadBundle):
        assert bundle.message.startswith("here: ")
    else:
        documents, findings = from_bundles([Published(offer(bundle), "image")])
        assert bool(documents) != bool(findings)


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        pytest.param([], "", id="no metadata at all"),
        pytest.param(["x"], "its metadata is not an object", id="a list"),
        pytest.param({"name": 3}, "its name is not text: 3", id="a number for a name"),
        pytest.param({"labels": {"a": True}}, "its labels are not texts", id="a boolean for a label"),
        pytest.param({"annotations": "x"}, "its annotations are not texts", id="text for annotations"),
    ],
)
def test_an_object_of_the_wrong_shape_is_told(metadata: object, words: str) -> None:
    found = parse(a_bundle(a_csv(), manifests__x={"kind": "Service", "metadata": metadata}), "here")
    assert words in found.message if isinstance(found, BadBundle) else not words


def test_a_value_of_another_shape_is_kept_as_it_is() -> None:
    stated = {"properties": [{"type": "olm.gvk", "value": "Tea"}]}
    assert "Tea" in of(a_csv(), metadata__properties=stated)["olm.gvk"]
