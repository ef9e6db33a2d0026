"""Folders, annotations and dependencies."""

from __future__ import annotations

import pytest

from shared.domain.authoring.validation import Subject, errors_in_one_line
from shared.domain.authoring.validation.form import media_type
from tests.domain.authoring.validation.world import LABELS, PREFIX, a_crd, an_object, errors, files, found, warnings


def test_fbc_md_r252_a_sound_bundle_has_no_findings() -> None:
    kinds = ("ConfigMap", "Secret", "VerticalPodAutoscaler", "PriorityClass", "PodDisruptionBudget")
    assert found(made=files(**{kind.lower(): an_object(kind) for kind in kinds})) == []
    assert errors_in_one_line(()) == ""


def test_fbc_md_r273_a_missing_folder_is_all_there_is_to_say() -> None:
    given = {path: content for path, content in files().items() if path.startswith("manifests/")}
    assert errors_in_one_line(found(made=given)) == "Bundle validation errors: Unable to locate metadata directory"
    assert warnings(made=given) == ["there is no file in metadata/, where annotations.yaml must be"]
    both = "Bundle validation errors: Unable to locate manifests directory,Unable to locate metadata directory"
    assert errors_in_one_line(found(made={})) == both


def test_fbc_md_11_1_a_folder_without_files_is_reported() -> None:
    given = {"manifests/sub/a.yaml": b"kind: A", "metadata/annotations.yaml": b"annotations: {}"}
    assert errors(made=given) == ["The directory here/manifests contains no yaml files"]


@pytest.mark.parametrize(
    ("made", "desired"),
    [
        pytest.param(files(), "registry+v1", id="a version"),
        pytest.param(files(Chart={"name": "tea"}), "helm", id="a chart"),
        pytest.param(files(Chart={"name": ""}), "registry+v1", id="a chart without a name"),
        pytest.param({"manifests/a.yaml": b"kind: ConfigMap"}, "plain", id="neither"),
        pytest.param({}, "", id="nothing"),
    ],
)
def test_fbc_md_r271_the_media_type_is_what_the_files_are(made: dict[str, bytes], desired: str) -> None:
    assert media_type(Subject(made, "here")) == desired


def test_fbc_md_r270_a_chart_is_not_looked_into() -> None:
    labels = LABELS | {f"{PREFIX}mediatype.v1": "helm"}
    assert found(Chart={"name": "tea"}, quota=an_object("ResourceQuota"), labels=labels) == []


def test_fbc_md_r269_a_plain_bundle_is_valid() -> None:
    labels = LABELS | {f"{PREFIX}mediatype.v1": "plain"}
    made = {**files(labels=labels), "manifests/cm.yaml": b"kind: ConfigMap\nmetadata: {name: a}\n"}
    del made["manifests/csv.yaml"], made["manifests/crd.yaml"]
    assert found(made=made) == []


def test_a_bundle_without_a_csv_is_told_what_it_lacks() -> None:
    made = files()
    del made["manifests/csv.yaml"]
    assert f'"{PREFIX}mediatype.v1" to have value "plain" instead of "registry+v1"' in errors(made=made)[0]
    assert warnings(made=made) == ["no file in manifests/ holds a ClusterServiceVersion that can be read; add one"]


@pytest.mark.parametrize("value", [[1], {"a": "b"}])
@pytest.mark.parametrize("key", ["x", f"{PREFIX}channels.v1"])
def test_fbc_md_11_2_annotations_are_texts(key: str, value: object) -> None:
    made = files(metadata__annotations={"annotations": {**LABELS, key: value}})
    assert errors(made=made) == ["Could not find annotations file"]
    what = "a list" if isinstance(value, list) else "an object"
    place = "metadata/annotations.yaml"
    assert warnings(made=made) == [f'the annotation "{key}" in {place} is {what}, not text']


def test_fbc_md_11_2_annotations_are_found_in_any_case() -> None:
    assert found(made=files(metadata__annotations={"ANNOTATIONS": LABELS})) == []


@pytest.mark.parametrize(
    ("labels", "desired"),
    [
        pytest.param(
            LABELS | {f"{PREFIX}mediatype.v1": "plain"},
            [f'Expecting annotation "{PREFIX}mediatype.v1" to have value "registry+v1" instead of "plain"'],
            id="fbc.md R257: another media type",
        ),
        pytest.param({}, [
            *(f'Missing annotation "{PREFIX}{key}.v1"' for key in ("manifests", "mediatype")),
            f'Expecting annotation "{PREFIX}mediatype.v1" to have value "registry+v1" instead of ""',
            *(f'Missing annotation "{PREFIX}{key}.v1"' for key in ("metadata", "package")),
            f'Missing annotation "{PREFIX}channels.v1"',
            f'Expecting annotation "{PREFIX}channels.v1" to have non-empty value',
        ], id="fbc.md 11.2: none of them"),
        pytest.param(
            LABELS | {f"{PREFIX}channel.default.v1": ""},
            [f'Expecting annotation "{PREFIX}channel.default.v1" to have non-empty value'],
            id="fbc.md 11.2: an empty default channel",
        ),
        pytest.param({key: LABELS[key] for key in LABELS if "default" not in key}, [], id="no default channel"),
    ],
)  # fmt: skip
def test_annotations(labels: dict[str, str], desired: list[str]) -> None:
    assert errors(labels=labels) == desired


def test_fbc_md_11_2_folders_that_nobody_reads_are_a_warning() -> None:
    [warning] = warnings(labels=LABELS | {f"{PREFIX}manifests.v1": "deploy/"})
    assert warning == f'annotation "{PREFIX}manifests.v1" says "deploy/", but everybody reads manifests/'


def test_fbc_md_11_2_without_annotations_their_file_is_asked_for() -> None:
    subscription = b"dependencies: [{type: olm.package, value: {version: 1.0.0}}]"
    given = {**files(), "metadata/annotations.yaml": b"a: [b", "metadata/dependencies.yaml": subscription}
    first, *others = errors(made=given)
    assert first.startswith("metadata/annotations.yaml cannot be read: ")
    assert others == ["Could not find annotations file", "Package name is empty"]


def test_fbc_md_r211_the_content_of_a_file_decides_what_it_is() -> None:
    given = files()
    given["metadata/x.txt"] = given.pop("metadata/annotations.yaml")
    assert found(made=given) == []


def depending(*entries: object) -> list[str]:
    return errors(metadata__dependencies={"dependencies": list(entries)})


def entry(kind: str, value: object) -> dict[str, object]:
    return {"type": kind, "value": value}


@pytest.mark.parametrize(
    ("kind", "value", "desired"),
    [
        pytest.param("olm.gvk", {}, ["API Group is empty", "API Version is empty", "API Kind is empty"], id="no API"),
        pytest.param("olm.gvk", {"group": "a", "version": "v1", "kind": "A"}, [], id="an API"),
        pytest.param(
            "olm.gvk", {"group": 1}, ["couldn't parse dependency of type olm.gvk"], id="fbc.md R253: a number"
        ),
        pytest.param("olm.gvk", [], ["couldn't parse dependency of type olm.gvk"], id="fbc.md R253: a list"),
        pytest.param("olm.package", {"packageName": "a", "version": ">=1.0.0"}, [], id="a package"),
        pytest.param(
            "olm.package",
            {"packageName": "a", "version": "one"},
            ["Invalid semver format version"],
            id="fbc.md R254: bad",
        ),
        pytest.param("olm.package", {"packageName": "a"}, ["Package version is empty"], id="fbc.md R254: no version"),
        pytest.param("olm.package", {"version": "1.0.0"}, ["Package name is empty"], id="fbc.md R254: no name"),
        pytest.param("olm.crd", {}, ["couldn't parse dependency of type olm.crd"], id="fbc.md R255: an unknown type"),
        pytest.param("olm.label", {}, ["Label information is missing"], id="fbc.md R256: no label"),
        pytest.param("olm.label", {"label": "a"}, [], id="a label"),
        pytest.param("olm.constraint", {}, ["The CEL field is missing"], id="fbc.md R259: nothing"),
        pytest.param("olm.constraint", {"cel": {}}, ["The CEL expression is missing"], id="fbc.md R259: no rule"),
        pytest.param(
            "olm.constraint",
            {"cel": {"rule": "properties.exists(p, p.type == 'a' && semver_compare(p.value, '1.0.0') == 0)"}},
            [],
            id="fbc.md R258: a rule",
        ),
        pytest.param(
            "olm.constraint", {"package": {"packageName": "a", "versionRange": "1.0.0"}}, [], id="a package constraint"
        ),
        pytest.param(
            "olm.constraint",
            {"package": {"packageName": "a", "versionRange": 3}},
            ["Invalid semver format version"],
            id="a package constraint with a number",
        ),
        pytest.param("olm.constraint", {"gvk": {"group": "a", "version": "v1"}}, ["API Kind is empty"], id="a gvk"),
        pytest.param(
            "olm.constraint",
            {
                "all": {
                    "constraints": [
                        {"any": {"constraints": [{"gvk": {"group": "a", "version": "b", "kind": "c"}}, {}]}}
                    ]
                }
            },
            ["The CEL field is missing"],
            id="fbc.md 11.2: constraints inside constraints",
        ),
    ],
)
def test_a_dependency(kind: str, value: object, desired: list[str]) -> None:
    assert depending(entry(kind, value)) == desired


@pytest.mark.parametrize("rule", ["foo(properties)", "1", "properties.exists("])
def test_fbc_md_r259_a_rule_that_is_none(rule: str) -> None:
    [found_errors] = depending(entry("olm.constraint", {"cel": {"rule": rule}}))
    assert found_errors.startswith("Invalid CEL expression: ")


def test_fbc_md_11_2_dependencies_beside_the_annotations_in_one_file_are_not_looked_at() -> None:
    both = {"annotations": LABELS, "dependencies": [entry("olm.crd", {})]}
    assert errors(metadata__annotations=both) == []


def test_a_definition_is_no_reason_to_complain() -> None:
    assert found(crd=a_crd()) == []
