from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.authoring.from_bundles import Published, from_bundles, offer
from shared.domain.bundle.model import BadBundle, ParsedBundle
from shared.domain.bundle.parse import parse
from shared.domain.bundle.properties import properties
from shared.domain.bundle.shape import defect


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
    bundle = parse(a_bundle(csv, **more), "here", is_complete=True)
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
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {"group": "x.io", "names": {"kind": "Tea"}, "versions": [{"name": "v1"}, {"name": "v2"}]},
    }
    old = {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "kind": "CustomResourceDefinition",
        "spec": {"group": "y.io", "names": {"kind": "Pot"}, "version": "v1beta1"},
    }
    owned = {"owned": [{"group": "z.io", "version": "v1", "kind": "Cup", "name": "cups"}]}
    later = crd | {"apiVersion": "apiextensions.k8s.io/v2"}
    found = of(a_csv(apiservicedefinitions=owned), manifests__crd=crd, manifests__old=old, manifests__later=later)
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
    declared = {"properties": [{"type": "olm.package", "value": {"packageName": "tea", "version": "0.0.1"}}]}
    assert of(csv, metadata__properties=declared)["olm.package"] == [{"packageName": "tea", "version": version}]


@pytest.mark.parametrize(
    "annotation",
    [
        pytest.param("{}", id="an object"),
        pytest.param("[3]", id="a list of numbers"),
        pytest.param("no JSON", id="a text"),
        pytest.param("null", id="null"),
        pytest.param('[{"type":"x","value":1},{"type":5}]', id="fbc.md 9.4: one type that is a number spoils all"),
        pytest.param(f'[{{"type":"x","value":{"[" * 1010}{"]" * 1010}}}]', id="a value that is nested too deeply"),
    ],
)
def test_an_annotation_that_is_no_list_of_properties_states_nothing(annotation: str) -> None:
    csv = a_csv()
    csv["metadata"]["annotations"] = {"olm.properties": annotation}
    assert of(csv) == {"olm.package": [_TEA]}


def test_properties_of_the_annotation_and_the_file_are_kept() -> None:
    csv = a_csv()
    csv["metadata"]["annotations"] = {"olm.properties": '[{"Type":"olm.maxOpenShiftVersion","value":"4.8"}]'}
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
def test_a_bundle_that_lacks_a_file_states_which(drop: str, reason: str, words: str) -> None:
    files = a_bundle(a_csv())
    del files[drop]
    result = parse(files, "quay.io/tea:1")
    assert isinstance(result, BadBundle)
    assert result.reason == reason
    assert words in result.message
    assert result.message.startswith("quay.io/tea:1: ")


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
        pytest.param({"namespace": 3}, "its namespace is not text: 3", id="a number for a namespace"),
        pytest.param({"labels": {"a": True}}, 'its labels are not texts: {"a":true}', id="a boolean for a label"),
        pytest.param({"annotations": "x"}, "its annotations are not texts", id="text for annotations"),
    ],
)
def test_an_object_of_the_wrong_shape_is_reported(metadata: object, words: str) -> None:
    found = parse(a_bundle(a_csv(), manifests__x={"kind": "CustomResourceDefinition", "metadata": metadata}), "here")
    why = found.message if isinstance(found, BadBundle) else ""
    assert words in why
    assert bool(words) == bool(why)


@pytest.mark.parametrize(
    "metadata", [{"name": 5}, {"namespace": 5}, {"labels": {"a": 5}}, {"annotations": "x"}, ["x"], "x"]
)
def test_fbc_md_9_2_of_other_objects_only_the_kind_is_looked_at(metadata: object) -> None:
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    found = parse(a_bundle(a_csv(), manifests__x=other), "here", is_complete=True)
    assert isinstance(found, ParsedBundle)
    assert other in found.objects


_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "teas.x.io"},
    "spec": {"group": "x.io", "names": {"kind": "Tea", "plural": "teas"}, "scope": "Namespaced", "versions": []},
}
_VERSION = "spec.versions[0]."


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param(
            {"scope": 5}, "v1 CRD: teas.x.io: spec.scope: wanted text, got a number", id="a number for a scope"
        ),
        pytest.param(
            {"names": {"listKind": {}}},
            "v1 CRD: teas.x.io: spec.names.listKind: wanted text, got an object",
            id="a name",
        ),
        pytest.param(
            {"versions": "a"}, "v1 CRD: teas.x.io: spec.versions: wanted a list, got text", id="text for versions"
        ),
        pytest.param({"versions": [{"served": "true"}]}, f"{_VERSION}served: wanted boolean, got text", id="a flag"),
        pytest.param(
            {"versions": [{"schema": {"openAPIV3Schema": {"minimum": "a"}}}]},
            f"{_VERSION}schema.openAPIV3Schema.minimum: wanted a number, got text",
            id="text for a number",
        ),
        pytest.param(
            {"conversion": {"webhook": {"clientConfig": {"caBundle": "!"}}}},
            "spec.conversion.webhook.clientConfig.caBundle: illegal base64 data at input byte 0",
            id="no base64",
        ),
    ],
)
def test_fbc_md_9_2_a_definition_has_the_types_of_kubernetes(fields: dict[str, object], words: str) -> None:
    crd = {**_CRD, "spec": {**_CRD["spec"], **fields}}  # type: ignore[dict-item]
    found = parse(a_bundle(a_csv(), manifests__x=crd), "here", is_complete=True)
    assert isinstance(found, BadBundle)
    assert found.cause.startswith("error decoding v1 CRD: teas.x.io: spec.")
    assert words in found.cause


def test_fbc_md_9_2_a_definition_of_v1beta1_has_its_own_types() -> None:
    crd = {**_CRD, "apiVersion": "apiextensions.k8s.io/v1beta1", "spec": {"validation": {"openAPIV3Schema": 5}}}
    found = parse(a_bundle(a_csv(), manifests__x=crd), "here", is_complete=True)
    assert isinstance(found, BadBundle)
    assert found.cause.startswith("error decoding v1beta1 CRD: teas.x.io: spec.validation.openAPIV3Schema: ")


def test_fbc_md_9_2_a_sound_definition_is_read() -> None:
    schema = {"type": "object", "properties": {"a": {"maxLength": 1.0, "minimum": 1}}}
    client = {"url": "https://a", "caBundle": "YQ=="}
    fields = {
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        "conversion": {"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}},
    }
    crd = {**_CRD, "spec": {**_CRD["spec"], **fields}}  # type: ignore[dict-item]
    assert of(a_csv(), manifests__x=crd)["olm.gvk"] == [{"group": "x.io", "kind": "Tea", "version": "v1"}]


_RELATED = 'get related images for bundle "tea.v1.0.0": spec.'
_OWNED = "error checking provided apis in bundle tea.v1.0.0: spec."


def a_pod(**fields: object) -> dict[str, object]:
    spec = {"template": {"spec": fields}, "replicas": fields.pop("replicas", 1)}
    return {"install": {"strategy": "deployment", "spec": {"deployments": [{"name": "d", "spec": spec}]}}}


@pytest.mark.parametrize(
    ("spec", "cause"),
    [
        pytest.param({"relatedImages": 1.5}, f"{_RELATED}relatedImages: wanted a list, got a number", id="a number"),
        pytest.param({"relatedImages": "a"}, f"{_RELATED}relatedImages: wanted a list, got text", id="text"),
        pytest.param({"relatedImages": {"a": 1}}, f"{_RELATED}relatedImages: wanted a list, got an object", id="map"),
        pytest.param({"relatedImages": [5]}, f"{_RELATED}relatedImages[0]: wanted an object, got a number", id="[5]"),
        pytest.param({"relatedImages": [{"image": 5}]}, f"{_RELATED}relatedImages[0].image: wanted text, ", id="image"),
        pytest.param(a_pod(containers=[[1]]), "containers[0]: wanted an object, got a list", id="a container"),
        pytest.param(
            a_pod(containers=[{"image": 5}]), "containers[0].image: wanted text, got a number", id="its image"
        ),
        pytest.param(a_pod(replicas="2"), "deployments[0].spec.replicas: wanted integer, got text", id="replicas"),
        pytest.param(
            a_pod(replicas=1.5), "deployments[0].spec.replicas: wanted integer, got a number", id="a fraction"
        ),
        pytest.param({"install": 5}, f"{_RELATED}install: wanted an object, got a number", id="no strategy"),
        pytest.param(
            {"customresourcedefinitions": {"owned": [5]}},
            f"{_OWNED}customresourcedefinitions.owned[0]: wanted an object, got a number",
            id="an owned definition",
        ),
        pytest.param(
            {"apiservicedefinitions": {"required": 5}},
            f"{_OWNED}apiservicedefinitions.required: wanted a list, got a number",
            id="required services",
        ),
    ],
)
def test_fbc_md_r219_the_fields_of_a_version_have_the_types_of_opm(spec: dict[str, object], cause: str) -> None:
    found = parse(a_bundle(a_csv(**spec)), "here", is_complete=True)
    assert isinstance(found, BadBundle)
    assert cause in found.cause


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        pytest.param({"metadata": {"name": "tea", "creationTimestamp": "x"}}, "'x' is no time", id="a time"),
        pytest.param({"metadata": {"name": "tea", "finalizers": 5}}, "metadata.finalizers: wanted a list", id="a list"),
        pytest.param({"apiVersion": 5}, "apiVersion: wanted text, got a number", id="the version of the API"),
        pytest.param({"spec": ...}, "spec is missing", id="no spec"),
        pytest.param({"spec": []}, "spec: wanted an object, got a list", id="a list for a spec"),
        pytest.param({"spec": None}, "", id="null for a spec"),
    ],
)
def test_fbc_md_9_2_a_version_has_metadata_and_a_spec(fields: dict[str, object], cause: str) -> None:
    csv = {key: value for key, value in {**a_csv(), **fields}.items() if value is not ...}
    found = parse(a_bundle(csv), "here", is_complete=True)
    assert cause in (found.cause if isinstance(found, BadBundle) else "")
    assert bool(cause) == isinstance(found, BadBundle)


@pytest.mark.parametrize("spec", ["x", [1], 3])
def test_the_spec_of_a_definition_is_an_object(spec: object) -> None:
    found = parse(a_bundle(a_csv(), manifests__x={"kind": "CustomResourceDefinition", "spec": spec}), "here")
    assert isinstance(found, BadBundle)
    assert "its spec is not an object" in found.message


@pytest.mark.parametrize("kind", [{"a": 1}, []])
def test_a_kind_is_text(kind: object) -> None:
    assert defect({"kind": kind}) == f"its kind is not text: {orjson.dumps(kind).decode()}"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        pytest.param(
            {"metadata__properties": {"properties": [{"type": "olm.gvk", "value": "Tea"}]}},
            'get properties for bundle "tea.v1.0.0": parse property[0] of type "olm.gvk": ',
            id="fbc.md 9.4: a property whose value is no object",
        ),
        pytest.param(
            {"metadata__dependencies": {"dependencies": [{"type": "olm.package", "value": [1]}]}},
            'get properties for bundle "tea.v1.0.0": parse property[0] of type "olm.package": ',
            id="fbc.md R217: a dependency whose value is a list",
        ),
        pytest.param(
            {"metadata__dependencies": {"dependencies": [{"type": "olm.gvk", "value": {"kind": 3}}]}},
            "kind: wanted text, got a number",
            id="fbc.md 9.4: a dependency with a number for a kind",
        ),
    ],
)
def test_what_is_no_property_is_refused_with_its_place(more: dict[str, object], words: str) -> None:
    assert words in refused(a_csv(), **more)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param({"version": 1.0}, "failed to derive properties: spec.version", id="fbc.md R214: a number"),
        pytest.param(
            {"release": True},
            "failed to derive properties: release field must be a string or number",
            id="fbc.md R215: a release that is no text",
        ),
        pytest.param(
            {"customresourcedefinitions": {"required": [{"name": "foos"}]}},
            'bundle "tea.v1.0.0": get required apis: couldn\'t parse plural.group from crd name: foos',
            id="fbc.md R210: a required definition without a group",
        ),
        pytest.param(
            {"customresourcedefinitions": {"owned": [{"name": "foos"}]}},
            "error checking provided apis in bundle tea.v1.0.0: couldn't parse plural.group from crd name: foos",
            id="fbc.md R209: an owned definition without a group",
        ),
        pytest.param(
            {"customresourcedefinitions": {"owned": [{"name": "foos.test.io", "version": "v1", "kind": "Foo"}]}},
            "error checking provided apis in bundle tea.v1.0.0: couldn't find test.io/v1/Foo (foos) in bundle. "
            "found: map[]",
            id="fbc.md R208: an owned definition that is not here",
        ),
    ],
)
def test_a_version_that_cannot_be_true_is_refused(spec: dict[str, object], words: str) -> None:
    assert words in refused(a_csv(**spec))


def test_a_definition_of_the_wrong_shape_is_refused() -> None:
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"group": 3}}
    assert "error decoding v1 CRD: spec.group: wanted text, got a number" in refused(a_csv(), manifests__crd=crd)


def test_an_owned_definition_is_found_by_its_plural() -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "whatever"},
        "spec": {"group": "test.io", "names": {"kind": "Foo", "plural": "foos"}, "versions": [{"name": "v1"}]},
    }
    owned = {"owned": [{"name": "foos.test.io", "version": "v1", "kind": "Foo"}]}
    assert of(a_csv(customresourcedefinitions=owned), manifests__crd=crd)["olm.gvk"]
    wrong = {"owned": [{"name": "foos.test.io", "version": "v2", "kind": "Foo"}]}
    csv = a_csv(customresourcedefinitions=wrong)
    assert "found: map[test.io/v1/Foo (foos):{}]" in refused(csv, manifests__crd=crd)


@pytest.mark.parametrize(
    ("release", "desired"),
    [
        ("1.0.0", "1.0.0"),
        (20250104, "20250104"),
        (0.20250104, "0.20250104"),
        (20250104235959, "20250104235959"),
        (7, "7"),
    ],
)
def test_fbc_md_r218_a_release_is_text_or_a_number(release: object, desired: str) -> None:
    assert of(a_csv(release=release))["olm.package"] == [{**_TEA, "release": desired}]


@pytest.mark.parametrize("release", [None, ""])
def test_fbc_md_r218_a_release_may_be_absent(release: object) -> None:
    assert of(a_csv(release=release))["olm.package"] == [_TEA]


def test_fbc_md_r216_a_dependency_that_is_stated_twice_is_required_twice() -> None:
    milk = {"type": "olm.package", "value": {"packageName": "milk", "version": "1.0.0"}}
    label = {"type": "olm.label", "value": {"label": "x"}}
    found = of(a_csv(), metadata__dependencies={"dependencies": [milk, milk, label]})
    assert found["olm.package.required"] == [{"packageName": "milk", "versionRange": "1.0.0"}] * 2
    assert found["olm.label"] == [{"label": "x"}]


def test_fbc_md_r202_a_property_that_is_stated_twice_counts_once() -> None:
    one, other = {"type": "x", "value": 1}, {"type": "x", "value": 2}
    assert of(a_csv(), metadata__properties={"properties": [one, one, other]})["x"] == [1, 2]


def test_fbc_md_r213_a_version_may_be_absent() -> None:
    csv = a_csv()
    del csv["spec"]["version"]
    assert of(csv)["olm.package"] == [{"packageName": "tea", "version": ""}]


def refused(csv: dict[str, Any], **more: object) -> str:
    result = parse(a_bundle(csv, **more), "here", is_complete=True)
    assert isinstance(result, BadBundle)
    assert result.cause
    return result.message


def test_fbc_md_4_2_the_fields_of_a_known_value_are_read_in_any_case() -> None:
    value = {"GROUP": "x.io", "Kind": "Tea", "version": "v1"}
    found = of(a_csv(), metadata__dependencies={"dependencies": [{"type": "olm.gvk", "value": value}]})
    assert found["olm.gvk.required"] == [{"group": "x.io", "kind": "Tea", "version": "v1"}]
