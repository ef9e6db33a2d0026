"""How the files of a bundle are read (v1.md §16.1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.domain.bundle.reading import FILE_BYTES
from shared.domain.extension.render.load import load
from shared.domain.extension.render.model import NotRenderedError
from shared.domain.extension.render.request import Loading
from tests.domain.extension.render.bundles import (
    CSV,
    PACKAGE,
    Json,
    a_csv,
    a_definition,
    a_deployment,
    about,
    files,
    objects,
)

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}


def refusal(content: dict[str, bytes], **how: bool) -> str:
    with pytest.raises(NotRenderedError) as caught:
        load(content, **how)
    assert not caught.value.is_terminal
    return str(caught.value)


def with_text(text: str, path: str = "manifests/x.yaml") -> dict[str, bytes]:
    return {**files(), path: text.encode()}


@pytest.mark.parametrize(
    ("how", "why", "verb"),
    [({}, "no such file or directory", "stat"), ({"is_in_memory": True}, "file does not exist", "open")],
    ids=["on a disk", "in memory"],
)
def test_v1_md_16_1_annotations_and_manifests_must_be_there(how: dict[str, bool], why: str, verb: str) -> None:
    assert refusal(files(annotations=None), **how) == f"open metadata/annotations.yaml: {why}"
    content = files()
    del content[CSV]
    assert refusal(content, **how) == f"{verb} manifests: {why}"


def test_v1_md_16_1_a_missing_package_loads_with_an_empty_name() -> None:
    assert load(files(annotations="")).package == ""
    assert load(files(annotations="annotations: null")).package == ""


def test_keys_of_the_metadata_are_read_in_any_case() -> None:
    """v1.md 16.1."""
    assert load(files(annotations=f"Annotations:\n  {PACKAGE.upper()}: tea\n")).package == "tea"
    loaded = load(files(properties="PROPERTIES: [{Type: a, VALUE: 1}]"))
    assert loaded.annotations["olm.properties"] == '[{"type":"a","value":1}]'


@pytest.mark.parametrize(("declared", "package"), [("5", "5"), ("true", "true"), ("1.50", "1.5"), ("null", "")])
def test_a_package_of_another_type_becomes_text(declared: str, package: str) -> None:
    assert load(files(annotations=f"annotations:\n  {PACKAGE}: {declared}\n")).package == package


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("x", "string into Go value of type registry.AnnotationsFile"),
        ("annotations: []", "array into Go struct field AnnotationsFile.annotations of type registry.Annotations"),
        (f"annotations: {{{PACKAGE}: [a]}}", (f"array into Go struct field Annotations.annotations.{PACKAGE} of type "
         "string")),
    ],
)  # fmt: skip
def test_annotations_of_wrong_types_are_reported_by_their_place(text: str, want: str) -> None:
    prefix = "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
    assert refusal(files(annotations=text)) == prefix + want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a: b: c", "yaml: mapping values are not allowed in this context"),
        ("a: b\nc: d: e", "yaml: line 2: mapping values are not allowed in this context"),
        ("a: [b\nc: d", "yaml: line 1: did not find expected ',' or ']'"),
        ("a: *b", "yaml: unknown anchor 'b' referenced"),
    ],
    ids=["in the first line", "a wrong character", "a broken list", "something that is no syntax"],
)
def test_unreadable_yaml_is_reported_with_its_line(text: str, want: str) -> None:
    assert refusal(files(annotations=text)) == f"error converting YAML to JSON: {want}"
    path = "manifests/x.yaml"
    want_text = f'error parsing objects in "{path}": error parsing {path}: error converting YAML to JSON: {want}'
    assert refusal(with_text(text)) == want_text


def test_lines_are_counted_within_a_document() -> None:
    want_text = refusal(with_text("kind: ConfigMap\n---\na: b\nc: d: e\n---\nkind: X\n"))
    assert want_text.endswith("yaml: line 2: mapping values are not allowed in this context")


def test_what_is_no_document_at_all_is_reported_as_it_is() -> None:
    want_text = refusal(with_text("a: b\n--- x\nc: d\n"))
    assert want_text.endswith("error parsing manifests/x.yaml: invalid Yaml document separator: x")


def test_v1_md_16_1_there_are_no_folders_among_the_manifests() -> None:
    assert refusal(with_text("a: b", "manifests/sub/x.yaml")) == (
        'subdirectories are not allowed within the "manifests" directory of the bundle image filesystem: '
        'found "manifests/sub"'
    )


def test_v1_md_16_1_a_version_is_needed() -> None:
    content = {**files(), CSV: json.dumps(CONFIG_MAP).encode()}
    assert refusal(content) == 'no ClusterServiceVersion found in "manifests"'


def test_v1_md_16_1_of_two_versions_the_last_one_counts() -> None:
    content = {**files(), "manifests/later.yaml": json.dumps(a_csv(metadata={"name": "late"})).encode()}
    assert load(content).name == "late"


def test_v1_md_16_1_documents_and_lists_are_flattened() -> None:
    listed = {"apiVersion": "v1", "kind": "ConfigMapList", "items": [{"metadata": {"name": "b"}}, CONFIG_MAP]}
    nulls = {"apiVersion": "v1", "kind": "ConfigMapList", "items": [None]}
    empty = {"apiVersion": "v1", "kind": "List", "items": None}
    text = "\n---\n".join(["", json.dumps(CONFIG_MAP), "# nothing", json.dumps(listed), json.dumps(empty)])
    assert load(with_text(json.dumps(nulls))).others == ({"apiVersion": "v1", "kind": "ConfigMap"},)
    found = load(with_text(text)).others
    assert [(one["kind"], one["apiVersion"], one["metadata"]["name"]) for one in found] == [
        ("ConfigMap", "v1", "c"), ("ConfigMap", "v1", "b"), ("ConfigMap", "v1", "c"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("[]", "json: cannot unmarshal array into Go value of type unstructured.detector"),
        ('{"apiVersion":"v1", "kind":""}', 'Object \'Kind\' is missing in \'{"apiVersion":"v1", "kind":""}\''),
        ("b: 1\na: 2\n", 'Object \'Kind\' is missing in \'{"a":2,"b":1}\''),
        ("kind: A\nitems: 5", ("json: cannot unmarshal number into Go struct field decodeList.items of type "
         "[]json.RawMessage")),
        ("kind: A\nitems: [5]", "json: cannot unmarshal number into Go value of type map[string]interface {}"),
        ("kind: A\nmetadata: x", ("json: cannot unmarshal string into Go struct field metadataOnlyObject.metadata of "
         "type v1.ObjectMeta")),
        ("kind: A\nmetadata: {name: 5}", ("json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name "
         "of type string")),
        ("kind: A\nmetadata: {labels: {a: 1}}", ("json: cannot unmarshal number into Go struct field "
         "ObjectMeta.metadata.labels of type string")),
        ("kind: A\nmetadata: {annotations: x}", ("json: cannot unmarshal string into Go struct field "
         "ObjectMeta.metadata.annotations of type map[string]string")),
        ("kind: A\nmetadata: {finalizers: {}}", ("json: cannot unmarshal object into Go struct field "
         "ObjectMeta.metadata.finalizers of type []string")),
        ("kind: A\nmetadata: {ownerReferences: [{kind: true, extra: 1}]}", ("json: cannot unmarshal bool into Go "
         "struct field OwnerReference.metadata.ownerReferences.kind of type string")),
        ("kind: A\nmetadata: {ownerReferences: [5]}", ("json: cannot unmarshal number into Go struct field "
         "ObjectMeta.metadata.ownerReferences of type v1.OwnerReference")),
        ("kind: A\nmetadata: {generation: 1.5}", ("json: cannot unmarshal number 1.5 into Go struct field "
         "ObjectMeta.metadata.generation of type int64")),
    ],
)  # fmt: skip
def test_what_is_no_object_is_reported_by_its_file_and_place(text: str, want: str) -> None:
    path = "manifests/x.yaml"
    assert refusal(with_text(text)) == f'error parsing objects in "{path}": unable to decode "{path}": {want}'


def test_a_file_that_no_api_server_stores_is_refused_by_name() -> None:
    want_text = refusal(with_text("kind: A" + " " * FILE_BYTES))
    assert want_text.startswith(
        f'error parsing objects in "manifests/x.yaml": the file has more than {FILE_BYTES} bytes'
    )


def test_an_object_of_a_list_that_does_not_say_what_it_is() -> None:
    assert refusal(with_text("kind: List\nitems: [{a: b}]")) == (
        'error parsing objects in "manifests/x.yaml": unable to get type info from the object '
        "\"*unstructured.Unstructured\": Object 'Kind' is missing in 'object has no kind field '"
    )


PROPERTIES = '{"properties": [{"type": "a", "value": {"z": 1, "b": "<"}}, {"type": 5}]}'


@pytest.mark.parametrize(
    ("annotation", "filed", "want"),
    [
        pytest.param(None, PROPERTIES, '[{"type":"a","value":{"b":"\\u003c","z":1}},{"type":"5","value":null}]',
                     id="v1.md 16.1 [T]: without annotation"),
        pytest.param('[{"type":"x","value":{"z":1, "a":2}}]', '{"properties": [{"type": "a", "value": 1}]}',
                     '[{"type":"x","value":{"z":1,"a":2}},{"type":"a","value":1}]',
                     id="v1.md 16.1 [T]: behind those of the annotation"),
        pytest.param("[]", "properties: []", "null", id="none at all"),
        pytest.param(' [{"type":"x"}]', None, ' [{"type":"x"}]', id="no file: the annotation stays"),
        pytest.param(None, "", None, id="an empty file"),
        pytest.param("null", '{"properties": [null]}', '[{"type":"","value":null}]', id="nothing for a property"),
    ],
)  # fmt: skip
def test_properties_are_merged_into_the_annotation(annotation: str | None, filed: str | None, want: str | None) -> None:
    meta = {"metadata": {"annotations": {"olm.properties": annotation}}} if annotation is not None else {}
    assert load(files(a_csv(**meta), properties=filed)).annotations.get("olm.properties") == want


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x", "invalid character 'x' looking for beginning of value"),
        ("", "unexpected end of JSON input"),
        ("{}", "json: cannot unmarshal object into Go value of type []property.Property"),
        ("[5]", "json: cannot unmarshal number into Go value of type property.Property"),
        ('[{"type":5}]', "json: cannot unmarshal number into Go struct field Property.type of type string"),
    ],
)
def test_an_unreadable_annotation_is_an_error(text: str, why: str) -> None:
    content = files(a_csv(metadata={"annotations": {"olm.properties": text}}))
    assert refusal(content) == f"failed to unmarshal csv.metadata.annotations['olm.properties']: {why}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: b: c", "error converting YAML to JSON: yaml: mapping values are not allowed in this context"),
        ("- a", "array into Go value of type source.RegistryV1Properties"),
        ("properties: 5", "number into Go struct field RegistryV1Properties.properties of type []property.Property"),
        ("properties: [{type: [a]}]", "array into Go struct field Property.properties.type of type string"),
    ],
)
def test_unreadable_properties_are_an_error(text: str, why: str) -> None:
    want_text = (
        why
        if why.startswith("error")
        else f"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {why}"
    )
    assert refusal(files(properties=text)) == f"failed to unmarshal metadata/properties.yaml: {want_text}"


def nested(**schema: Any) -> Json:
    return a_definition(versions=[{"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}}])


def limited(cpu: object) -> Json:
    containers = [{"name": "main", "resources": {"limits": {"cpu": cpu}}}]
    return a_csv(strategy={"deployments": [a_deployment(containers=containers)]})


NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
MISFITS = [
    (limited(True), NO_QUANTITY),
    (limited([]), NO_QUANTITY),
    (nested(items={"additionalProperties": 5}), "boolean or JSON schema expected"),
    (a_csv(installModes=[{"type": 5}]), "cannot convert int64 to v1alpha1.InstallModeType"),
    (a_csv(installModes=[{"type": []}]), "unrecognized type: string"),
    (a_csv(displayName=5), "cannot convert int64 to string"),
    (a_csv(displayName=[]), "unrecognized type: string"),
    (a_csv(installModes=[{"type": "OwnNamespace", "supported": "yes"}]), "unrecognized type: bool"),
    (a_csv(installModes={}), "cannot restore slice from map"),
    (a_csv(install=5), "cannot restore struct from: int64"),
    (a_csv(install=[]), "cannot restore struct from: slice"),
    (a_csv(install="x"), "cannot restore struct from: string"),
    (a_csv(labels=True), "cannot restore map from bool"),
    (a_csv(labels=2**64), "cannot restore map from float64"),
    (a_csv(version="x"), 'Invalid character(s) found in major number "x"'),
    (a_csv(version=1), "json: cannot unmarshal number into Go value of type string"),
    (a_csv(release="a_b"), 'Invalid character(s) found in prerelease "a_b"'),
    (a_csv(webhookdefinitions=[{"containerPort": "http"}]), "unrecognized type: int32"),
    (a_csv(webhookdefinitions=[{"containerPort": 1.5}]), "cannot convert float64 to int32"),
    (a_csv(webhookdefinitions=[{"targetPort": True}]), "json: cannot unmarshal bool into Go value of type int32"),
    (a_csv(webhookdefinitions=[{"targetPort": 1.5}]), "json: cannot unmarshal number 1.5 into Go value of type int32"),
    (a_definition(conversion={"webhook": {"clientConfig": {"caBundle": 5}}}), "cannot restore slice from int64"),
    (nested(maximum="x"), "unrecognized type: float64"),
    (nested(additionalProperties=5), "boolean or JSON schema expected"),
    (nested(items={"properties": {"a": 5}}),
     "json: cannot unmarshal number into Go struct field JSONSchemaProps.properties of type v1.JSONSchemaProps"),
    (nested(items={"items": {"maxLength": "x"}}),
     "json: cannot unmarshal string into Go struct field JSONSchemaProps.items.maxLength of type int64"),
    (nested(items={"default": 1, "minimum": 1, "type": {}}),
     "json: cannot unmarshal object into Go struct field JSONSchemaProps.type of type string"),
]  # fmt: skip


@pytest.mark.parametrize(("manifest", "want"), MISFITS)
def test_values_of_wrong_types_are_reported_in_the_words_of_go(manifest: Json, want: str) -> None:
    content = {**files(), "manifests/x.yaml": json.dumps(manifest).encode()}
    assert refusal(content) == f'error parsing objects in "manifests/x.yaml": {want}'


def created(declared: object) -> Json:
    definition = a_definition()
    definition["metadata"]["creationTimestamp"] = declared
    return definition


def test_what_fits_is_kept_or_dropped_as_go_does() -> None:
    definition = nested(additionalProperties={"Type": "unknown", "type": "string"})
    definition["metadata"] |= {"labels": None, "unknown": 1}
    definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": {"clientConfig": {"caBundle": "eA=="}}}
    found = load(files(a_csv(release="1.a"), definition)).definitions[0]
    assert found["metadata"] == {"name": "things.demo.io"}
    assert found["spec"]["conversion"]["webhook"]["clientConfig"] == {"caBundle": "eA=="}
    schema = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema == {"additionalProperties": {"type": "string"}}


def test_times_are_written_in_utc() -> None:
    (found,) = objects(None, created("2026-01-02T03:04:05.5+01:00"), kind="CustomResourceDefinition")
    assert found["metadata"]["creationTimestamp"] == "2026-01-02T02:04:05Z"


LAYOUT = ' as "2006-01-02T15:04:05Z07:00": cannot parse'


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ("soon", f'parsing time "soon"{LAYOUT} "soon" as "2006"'),
        ("2026-01-02T03:04:05", f'parsing time "2026-01-02T03:04:05"{LAYOUT} "" as "Z07:00"'),
        ("2026-01-02T03:04:05Zz", 'parsing time "2026-01-02T03:04:05Zz": extra text: "z"'),
        ("2026-02-31T03:04:05Z", 'parsing time "2026-02-31T03:04:05Z": day out of range'),
        (5, "json: cannot unmarshal number into Go value of type string"),
    ],
)
def test_times_are_refused_in_the_words_of_go(declared: object, why: str) -> None:
    assert str(about(files(None, created(declared)))["error"]).endswith(f'unable to decode "manifests/0.yaml": {why}')


def test_a_bundle_is_read_once_for_requests_in_a_row() -> None:
    loading, content = Loading(), files()
    assert loading.bundle(content) is loading.bundle(dict(content))
    assert loading.bundle(files(a_csv(metadata={"name": "new"}))).name == "new"
