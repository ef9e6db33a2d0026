"""A bundle from its files, or the sentence that says why it is none."""

from __future__ import annotations

import json

import pytest

from shared.api.manifest import name_of
from shared.domain.bundle.model import BadBundle, ParsedBundle
from shared.domain.bundle.parse import parse
from shared.domain.bundle.properties import properties

CSV = b"apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: etcd.v1}\nspec: {}\n"
LABELS = b"annotations: {operators.operatorframework.io.bundle.package.v1: etcd}\n"
GOOD = {"manifests/csv.yaml": CSV, "metadata/annotations.yaml": LABELS}


def test_a_bundle_is_its_version_its_objects_and_its_labels() -> None:
    found = parse(GOOD, "here")
    assert isinstance(found, ParsedBundle)
    assert (name_of(found.csv), found.annotations.package, len(found.objects)) == ("etcd.v1", "etcd", 1)


@pytest.mark.parametrize(
    "extra",
    [
        pytest.param({"manifests/broken.yaml": b"a: [b"}, id="a file that is no YAML"),
        pytest.param({"manifests/.hidden.yaml": CSV}, id="a hidden file"),
        pytest.param({"manifests/deep/csv.yaml": CSV}, id="a file in a folder below"),
        pytest.param({"manifests/list.yaml": b"[1]"}, id="a document that is no object"),
    ],
)
def test_what_is_no_manifest_is_passed_over(extra: dict[str, bytes]) -> None:
    found = parse({**GOOD, **extra}, "here")
    assert isinstance(found, ParsedBundle)
    assert len(found.objects) == 1


def test_a_file_that_cannot_be_read_is_passed_over_with_a_warning() -> None:
    found = parse({**GOOD, "manifests/role.yaml": b"a: [b"}, "here")
    assert isinstance(found, ParsedBundle)
    [warning] = found.warnings
    assert warning.startswith("here: manifests/role.yaml cannot be read: ")


@pytest.mark.parametrize(
    ("files", "needle"),
    [
        pytest.param(
            {**GOOD, "manifests/csv.yaml": b"a: [b"},
            "; manifests/csv.yaml cannot be read: ",
            id="a version that is no YAML",
        ),
        pytest.param(
            {**GOOD, "metadata/annotations.yaml": b"a: [b"},
            "; metadata/annotations.yaml cannot be read: ",
            id="labels that are no YAML",
        ),
        pytest.param({**GOOD, "manifests/csv.yaml": b"kind: ConfigMap\n"}, "no ClusterServiceVersion", id="no version"),
        pytest.param({**GOOD, "manifests/csv.yaml": CSV.replace(b"etcd.v1", b"''")}, "metadata.name", id="no name"),
        pytest.param(
            {**GOOD, "manifests/crd.yaml": b"kind: CustomResourceDefinition\nmetadata: 3\n"},
            "manifests/crd.yaml: this is no CustomResourceDefinition",
            id="a broken object",
        ),
        pytest.param({"manifests/csv.yaml": CSV}, "annotations.yaml", id="no labels"),
    ],
)
def test_what_is_no_bundle_is_refused_with_a_sentence(files: dict[str, bytes], needle: str) -> None:
    found = parse(files, "here")
    assert isinstance(found, BadBundle)
    assert needle in found.message
    assert found.message.startswith("here: ")


@pytest.mark.parametrize(
    ("files", "cause"),
    [
        pytest.param({}, "no bundle objects found", id="fbc.md R194: nothing"),
        pytest.param({"metadata/annotations.yaml": LABELS}, "no bundle objects found", id="fbc.md R194: no manifests"),
        pytest.param({"manifests/csv.yaml": CSV}, "Could not find annotations file", id="fbc.md R194: no metadata"),
        pytest.param(
            {**GOOD, "manifests/csv.yaml": b"kind: ConfigMap\n"}, "no csv in bundle", id="fbc.md R203: no version"
        ),
    ],
)
def test_what_is_missing_is_reported_in_the_words_of_opm(files: dict[str, bytes], cause: str) -> None:
    found = parse(files, "here")
    assert isinstance(found, BadBundle)
    assert found.cause == cause


def test_fbc_md_r195_and_r196_a_bundle_with_a_definition_and_a_dependency() -> None:
    prefix = "operators.operatorframework.io.bundle."
    given = {"package": "foo", "channels": "alpha,stable", "channel.default": "stable"}
    labels = json.dumps({"annotations": {f"{prefix}{key}.v1": value for key, value in given.items()}})
    crd = b"""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.test.io}
spec: {group: test.io, names: {kind: Foo, plural: foos}, versions: [{name: v1}]}
"""
    csv = b"""
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: foo.v1.1.0}
spec: {version: 1.1.0, customresourcedefinitions: {owned: [{name: foos.test.io, version: v1, kind: Foo}]}}
"""
    files = {"manifests/csv.yaml": csv, "manifests/crd.yaml": crd, "metadata/annotations.yaml": labels.encode()}
    files["metadata/dependencies.yaml"] = (
        b"dependencies: [{type: olm.package, value: {packageName: bar, version: 2.0.0}}]"
    )
    found = parse(files, "here", is_complete=True)
    assert isinstance(found, ParsedBundle)
    assert (found.name, found.annotations.package, found.annotations.channels) == (
        "foo.v1.1.0",
        "foo",
        ("alpha", "stable"),
    )
    assert found.dependencies == (("olm.package", {"packageName": "bar", "version": "2.0.0"}),)
    assert [(one.type, one.value) for one in properties(found)] == [
        ("olm.gvk", {"group": "test.io", "kind": "Foo", "version": "v1"}),
        ("olm.package", {"packageName": "foo", "version": "1.1.0"}),
        ("olm.package.required", {"packageName": "bar", "versionRange": "2.0.0"}),
    ]


def test_fbc_md_r204_of_two_versions_the_first_is_read() -> None:
    found = parse({**GOOD, "manifests/other.yaml": CSV.replace(b"etcd.v1", b"etcd.v2")}, "here")
    assert isinstance(found, ParsedBundle)
    assert (found.name, len(found.objects)) == ("etcd.v1", 1)
    assert found.warnings == (
        "here: manifests/other.yaml is a second ClusterServiceVersion, which nobody reads; remove it",
    )


def test_fbc_md_r205_and_r206_what_is_passed_over_is_a_warning() -> None:
    found = parse({**GOOD, "manifests/a.yaml": b"a: 1\n", "manifests/b.yaml": b"kind: B\n---\nkind: C\n"}, "here")
    assert isinstance(found, ParsedBundle)
    assert found.warnings == (
        "here: manifests/a.yaml cannot be read: Object 'Kind' is missing; correct it",
        "here: found more than one document inside manifests/b.yaml, using only the first one",
    )


def test_fbc_md_9_3_scalars_become_text() -> None:
    found = parse({**GOOD, "metadata/p.yaml": b"properties: [{type: y, value: 1}]"}, "here")
    assert isinstance(found, ParsedBundle)
    assert found.properties == (("true", 1),)


def test_fbc_md_9_3_fields_are_read_in_any_case_and_values_are_sorted() -> None:
    text = b"Properties: [{TYPE: a, Value: {b: {d: 1, c: 2}, a: 3}}]"
    named = b'ANNOTATIONS: {"operators.operatorframework.io.bundle.package.v1": etcd}'
    found = parse({**GOOD, "metadata/annotations.yaml": named, "metadata/p.yaml": text}, "here")
    assert isinstance(found, ParsedBundle)
    assert found.annotations.package == "etcd"
    assert json.dumps(found.properties) == '[["a", {"a": 3, "b": {"c": 2, "d": 1}}]]'


def test_fbc_md_9_1_a_file_with_a_package_that_is_no_scalar_is_none_of_annotations() -> None:
    named = b'annotations: {"operators.operatorframework.io.bundle.package.v1": [etcd]}'
    refused = parse({**GOOD, "metadata/annotations.yaml": named}, "here")
    assert isinstance(refused, BadBundle)
    assert refused.cause == "Could not find annotations file"


def test_fbc_md_9_3_the_keys_of_annotations_are_read_in_any_case() -> None:
    named = b'annotations: {"OPERATORS.operatorframework.io.bundle.package.v1": etcd, other: {a: 1}}'
    found = parse({**GOOD, "metadata/annotations.yaml": named}, "here")
    assert isinstance(found, ParsedBundle)
    assert found.annotations.package == "etcd"


def test_fbc_md_9_4_the_value_of_a_dependency_in_json_keeps_its_order() -> None:
    text = b'{"dependencies": [{"type": "x", "value": {"z": 1, "a": {"y": 1, "b": 2}}}]}'
    found = parse({**GOOD, "metadata/dependencies.yaml": text}, "here")
    assert isinstance(found, ParsedBundle)
    assert json.dumps(found.dependencies) == '[["x", {"z": 1, "a": {"y": 1, "b": 2}}]]'
    [kept] = [one.value for one in properties(found) if one.type == "x"]
    assert json.dumps(kept) == '{"z": 1, "a": {"y": 1, "b": 2}}'
