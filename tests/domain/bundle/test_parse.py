"""A bundle from its files, or the sentence that says why it is none."""

from __future__ import annotations

import pytest

from shared.api.manifest import name_of
from shared.domain.bundle.model import BadBundle, ParsedBundle
from shared.domain.bundle.parse import parse

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
            {**GOOD, "manifests/cm.yaml": b"kind: Role\nmetadata: 3\n"},
            "manifests/cm.yaml: this is no Role",
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
