"""Every manifest by itself, and the bundle they make."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.domain.authoring.validation.world import (
    a_crd,
    a_csv,
    an_object,
    errors,
    files,
    found,
    modes,
    owned,
    warnings,
)

_OWNED = ("spec", "customresourcedefinitions", "owned")


def test_fbc_md_r263_a_kind_that_bundles_may_not_hold() -> None:
    desired = "ResourceQuota is not supported type for registryV1 bundle: here/manifests/q.yaml"
    assert errors(q=an_object("ResourceQuota")) == [desired]


def in_other_case(value: dict[str, Any], *path: str | int) -> dict[str, Any]:
    """A manifest in which the last key of the path is in capitals."""
    changed = copy.deepcopy(value)
    holder: Any = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[str(path[-1]).upper()] = holder.pop(path[-1])
    return changed


@pytest.mark.parametrize(
    ("path", "words"),
    [
        pytest.param(("spec", "displayName"), "Field Spec.DisplayName, Value field: required", id="display name"),
        pytest.param(("spec", "install", "strategy"), "Spec.InstallStrategy.StrategyName", id="strategy"),
        pytest.param(("spec", "install"), "Field Spec.InstallStrategy, Value struct: required", id="install"),
        pytest.param(("spec", "installModes"), "install modes not found", id="install modes"),
        pytest.param(("metadata", "name"), 'metadata.name "" is invalid', id="name"),
        pytest.param(("metadata",), "Field ObjectMeta, Value struct: required", id="metadata"),
        pytest.param(("apiVersion",), "'apiVersion' is missing", id="version of the API"),
        pytest.param(("spec",), "spec is missing", id="spec"),
        pytest.param((*_OWNED, 0, "kind"), "example must have a provided API", id="owned kind"),
        pytest.param(_OWNED, "example must have a provided API", id="owned"),
    ],
)
def test_fbc_md_11_3_fields_of_a_version_have_one_spelling(path: tuple[str | int, ...], words: str) -> None:
    csv = a_csv()
    csv["metadata"].setdefault("annotations", {})["alm-examples"] = '[{"apiVersion":"tea.io/v1","kind":"Pot"}]'
    assert not errors(csv=csv)
    found_errors = errors(csv=in_other_case(csv, *path))
    assert any(words in one for one in found_errors), found_errors


def test_fbc_md_11_3_metadata_of_other_objects_is_read_in_any_case() -> None:
    account = in_other_case(an_object("ServiceAccount"), "metadata")
    assert errors(sa=account) == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({"apiVersion": 5}, "json: apiVersion: wanted text, got a number", id="a number for apiVersion"),
        pytest.param(
            {"metadata": {"name": "a", "generation": -1}},
            "metadata.generation: Invalid value: -1: must be greater than or equal to 0", id="a generation below 0",
        ),
    ],
)  # fmt: skip
def test_fbc_md_11_3_the_head_of_an_object(fields: dict[str, Any], words: str) -> None:
    [error] = errors(sa={**an_object("ServiceAccount"), **fields})
    assert words in error


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b"", "manifests/.x.yaml cannot be read: it is empty", id="nothing"),
        pytest.param(b"# c\n", "manifests/.x.yaml cannot be read: it holds nothing", id="a comment"),
        pytest.param(b"a: [", "manifests/.x.yaml cannot be read: ", id="no YAML"),
        pytest.param(b"kind: Pod\nmetadata: {name: a}\n", "Pod is not supported type for", id="an unknown kind"),
    ],
)
def test_fbc_md_11_3_hidden_files_are_checked_too(content: bytes, words: str) -> None:
    made = {**files(), "manifests/.x.yaml": content}
    [error] = [str(one) for one in found(made=made) if one.is_error]
    assert words in error


def test_fbc_md_11_3_a_definition_fits_the_types_of_kubernetes() -> None:
    schema = {"openAPIV3Schema": {"minimum": "a"}}
    crd = a_crd(versions=[{"name": "v1", "served": True, "storage": True, "schema": schema}])
    [error] = errors(crd=crd)
    assert "spec.versions[0].schema.openAPIV3Schema.minimum: wanted a number, got text" in error


def test_fbc_md_r262_metadata_of_the_wrong_type() -> None:
    account = an_object("ServiceAccount", metadata={"name": "a", "namespace": 3})
    assert errors(sa=account) == ["json: metadata.namespace: wanted text, got a number"]


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        pytest.param({}, "metadata.name: Required value: name or generateName is required", id="no name"),
        pytest.param({"generateName": "a-"}, "metadata.name: Required value", id="a name that is to be generated"),
        pytest.param(
            {"name": "a", "labels": {"b c": "x", "y": "?"}},
            '[metadata.labels: Invalid value: "b c": name part must consist of',
            id="labels",
        ),
        pytest.param({"name": "a", "labels": {"/x": ""}}, "prefix part must be non-empty", id="no prefix"),
        pytest.param({"name": "a", "labels": {"A_/x": ""}}, "prefix part a lowercase RFC 1123 subdomain", id="prefix"),
        pytest.param({"name": "a", "labels": {"x/": ""}}, "name part must be non-empty", id="no name behind a prefix"),
        pytest.param({"name": "a", "annotations": {"a": "x" * 262144}}, "metadata.annotations: Too long", id="long"),
        pytest.param(
            {"name": "a", "namespace": "tea"},
            "metadata.namespace: Forbidden: not allowed on this type",
            id="a namespace",
        ),
        pytest.param(
            {"name": "a", "ownerReferences": [{"apiVersion": "v1/", "kind": "Pod", "name": "a", "uid": "b"}]},
            'metadata.ownerReferences.apiVersion: Invalid value: "v1/": version must not be empty',
            id="an owner without a version",
        ),
        pytest.param(
            {"name": "a", "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a"}]},
            'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
            id="an owner without a uid",
        ),
    ],
)
def test_fbc_md_11_3_metadata_that_kubernetes_would_not_take(metadata: dict[str, Any], words: str) -> None:
    [found_errors] = errors(sa=an_object("ServiceAccount", metadata=metadata))
    assert found_errors.startswith("error validating object metadata: ")
    assert words in found_errors


@pytest.mark.parametrize(
    ("others", "words"),
    [
        pytest.param(
            {"x": b"a: [b"}, "manifests/x.yaml cannot be read: ", id="fbc.md 11.3: unlike rendering, an error"
        ),
        pytest.param({"x": {"a": 1}}, "Object 'Kind' is missing", id="no kind"),
        pytest.param({"sub__x": None, "manifests__sub__x": {"kind": "A"}}, "Unable to read file sub in", id="a folder"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error(others: dict[str, Any], words: str) -> None:
    [found_errors] = errors(**others)
    assert words in found_errors


def test_a_second_document_and_a_second_version_are_warnings() -> None:
    assert warnings(x=b"kind: ConfigMap\nmetadata: {name: a}\n---\nkind: ConfigMap\n") == [
        "found more than one document inside manifests/x.yaml, using only the first one"
    ]
    assert warnings(other=a_csv()) == [
        "manifests/other.yaml is a second ClusterServiceVersion: only the first one is read"
    ]


def test_a_second_version_is_judged_like_the_first() -> None:
    assert errors(other=a_csv(displayName="")) == ["Error: Field Spec.DisplayName, Value field: required field missing"]


def test_fbc_md_11_3_a_mistyped_version_is_an_error() -> None:
    assert errors(csv=a_csv(version=1)) == ["json: spec.version: wanted text, got a number"]


def test_fbc_md_r264_an_owned_definition_that_is_not_here() -> None:
    csv = a_csv(customresourcedefinitions={"owned": [owned(), owned(version="v2")]})
    desired = '{ Pot pots.tea.io v2}: owned CRD pots.tea.io/v2 not found in bundle "tea.v1.0.0"'
    assert errors(csv=csv) == [f"Error: Value {desired}"]


def test_fbc_md_r267_the_group_of_an_owned_definition_does_not_matter() -> None:
    assert errors(csv=a_csv(customresourcedefinitions={"owned": [owned(group="tea.io")]})) == []


def test_fbc_md_r265_a_definition_that_nobody_owns_is_a_warning() -> None:
    other = a_crd(names={"kind": "Cup", "plural": "cups"}) | {"metadata": {"name": "cups.tea.io"}}
    [found_errors] = found(other=other)
    assert not found_errors.is_error
    assert found_errors.detail == 'CRD cups.tea.io/v1 (Cup) is in bundle "tea.v1.0.0", but its version does not own it'


def test_fbc_md_r272_a_release_and_a_substitute_exclude_each_other() -> None:
    csv = a_csv({"olm.substitutesFor": "tea.v0.9.0"}, release="1")
    desired = (
        'bundle "tea.v1.0.0" cannot have both a release version ("1") and olm.substitutesFor annotation ("tea.v0.9.0")'
    )
    assert errors(csv=csv) == [desired]
    assert errors(csv=a_csv(release="1")) == []


def test_fbc_md_11_3_the_release_in_a_manifest_is_text() -> None:
    assert errors(csv=a_csv(release=7)) == ["json: spec.release: wanted text, got a number"]


def test_fbc_md_11_3_a_definition_cannot_be_owned_twice() -> None:
    found_errors = errors("bundle", csv=a_csv(customresourcedefinitions={"owned": [owned(), owned()]}))
    assert found_errors == [
        'Error: Value { Pot pots.tea.io v1}: owned CRD pots.tea.io/v1 not found in bundle "tea.v1.0.0"',
        'Error: Value tea.io/v1, Kind=Pot: owned CRD "tea.io/v1, Kind=Pot" not found in bundle "tea.v1.0.0"',
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"apiVersion": "x.io/v2"}, "Unsupported api version of CRD: x.io/v2", id="v2"),
        pytest.param({"spec": 3}, "spec: wanted an object, got a number", id="no specification"),
        pytest.param(a_crd(group=""), "spec.group: Required value", id="no group"),
        pytest.param(a_crd(group="tea"), "should be a domain with at least one dot", id="a group without a dot"),
        pytest.param(a_crd(group="Tea.io"), "a lowercase RFC 1123 subdomain", id="a group in capitals"),
        pytest.param(
            {"metadata": {"name": "cups.tea.io"}}, 'must be spec.names.plural+"."+spec.group', id="another name"
        ),
        pytest.param(a_crd(scope=""), "spec.scope: Required value", id="no scope"),
        pytest.param(
            a_crd(scope="World"),
            'spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"',
            id="another scope",
        ),
        pytest.param(
            a_crd(versions=[{"name": "v1", "storage": True}, {"name": "v1"}]),
            "must contain unique version names",
            id="fbc.md R261: two versions of one name",
        ),
        pytest.param(a_crd(versions=[{"name": "v1"}]), "must have exactly one version marked as storage", id="storage"),
        pytest.param(
            a_crd(versions=[{"name": "V1", "storage": True}]), "spec.versions[0].name: Invalid value", id="V1"
        ),
        pytest.param(
            a_crd(versions=[{"name": 1, "storage": True}]),
            "spec.versions[0].name: wanted text, got a number",
            id="1",
        ),
        pytest.param(a_crd(version="v2"), "must match the first version in spec.versions", id="another first version"),
        pytest.param(
            a_crd(preserveUnknownFields=True), "spec.preserveUnknownFields: Invalid value: true", id="unknown fields"
        ),
        pytest.param(a_crd(names={"plural": "pots"}), "spec.names.kind: Required value", id="no kind"),
        pytest.param(a_crd(names={"kind": 3, "plural": "pots"}), "spec.names.kind: wanted text, got a number", id="3"),
        pytest.param(
            a_crd(names={"kind": "P_t", "plural": "pots"}), "spec.names.kind: Invalid value", id="a kind with _"
        ),
        pytest.param(
            a_crd(names={"kind": "Pot", "plural": "pots", "shortNames": ["P"]}),
            "spec.names.shortNames[0]",
            id="short",
        ),
        pytest.param(
            a_crd(names={"kind": "Pot", "plural": "pots", "listKind": "Pot"}), "kind and listKind may not be", id="list"
        ),
        pytest.param(
            a_crd(names={"kind": "Pot", "plural": "pots", "listKind": "All Pots"}),
            'spec.names.listKind: Invalid value: "All Pots": may have mixed case, but should otherwise match: a DNS',
            id="a list of two words",
        ),
        pytest.param(
            a_crd(names={"kind": "Pot", "plural": "pots", "categories": ["Tea"]}),
            'spec.names.categories[0]: Invalid value: "Tea": a DNS-1035',
            id="a category",
        ),
        pytest.param(
            a_crd(conversion={"strategy": "Webhook", "webhook": {"clientConfig": {}}}),
            "spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required",
            id="a webhook that is nowhere",
        ),
        pytest.param(
            a_crd(conversion={"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://a"}}}),
            "spec.conversion.conversionReviewVersions: Required value",
            id="a webhook of no version",
        ),
        pytest.param(
            a_crd(conversion={"strategy": "None", "webhook": {"clientConfig": {}}}),
            "spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook",
            id="a webhook without need",
        ),
        pytest.param(
            a_crd() | {"apiVersion": "apiextensions.k8s.io/v1beta1"},
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve",
            id="unknown fields in the older form",
        ),
        pytest.param(
            a_crd(conversion={"webhookClientConfig": {}}) | {"apiVersion": "apiextensions.k8s.io/v1beta1"},
            "spec.conversion.webhookClientConfig: Forbidden",
            id="a webhook without need, in the older form",
        ),
        pytest.param(
            a_crd() | {"metadata": {}}, "metadata.name: Required value: name or generateName is required", id="no name"
        ),
        pytest.param(a_crd(conversion={"strategy": "X"}), "spec.conversion.strategy: Unsupported value", id="strategy"),
        pytest.param(
            a_crd(conversion={"strategy": "Webhook"}),
            "spec.conversion.webhookClientConfig: Required value",
            id="webhook",
        ),
    ],
)
def test_a_definition_that_kubernetes_would_not_take(changes: dict[str, Any], words: str) -> None:
    found_errors = errors(crd=a_crd() | changes)
    assert any(words in sentence for sentence in found_errors), found_errors


def test_the_older_form_of_a_definition_is_a_warning() -> None:
    old = a_crd(versions=[], version="v1", scope="", preserveUnknownFields=False) | {
        "apiVersion": "apiextensions.k8s.io/v1beta1"
    }
    [found_errors] = found(crd=old)
    assert not found_errors.is_error
    assert "is deprecated" in str(found_errors)


def test_a_definition_with_a_converter_is_sound() -> None:
    webhook = {"clientConfig": {"url": "https://a"}, "conversionReviewVersions": ["v1"]}
    conversion = {"strategy": "Webhook", "webhook": webhook}
    assert found(crd=a_crd(conversion=conversion, preserveUnknownFields=False)) == []


def test_fbc_md_r286_a_converter_needs_all_namespaces_and_nothing_else() -> None:
    webhooks = [{"generateName": "a", "type": "ConversionWebhook", "conversionCRDs": ["pots.tea.io"]}]
    words = "only AllNamespaces InstallModeType is supported when conversionCRDs is present"
    found_errors = errors(csv=a_csv(webhookdefinitions=webhooks, installModes=modes("AllNamespaces", "OwnNamespace")))
    assert found_errors == [f"Error: Value : (tea.v1.0.0) {words}"]
    assert errors(csv=a_csv(webhookdefinitions=webhooks, installModes=modes("AllNamespaces"))) == []
