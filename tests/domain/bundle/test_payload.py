from __future__ import annotations

import base64
import gzip
import random

import pytest

from shared.api.manifest import Manifest
from shared.domain.bundle.hash import bundle_hash
from shared.domain.bundle.model import BadBundle, UnpackedBundle
from shared.domain.bundle.payload import files_in, load, payload, whole

_CSV = b"apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: tea.v1}\n"
_CRD = b"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: teas.x.io}\n"
_ANNOTATIONS = b"""annotations:
  operators.operatorframework.io.bundle.package.v1: tea
  operators.operatorframework.io.bundle.channels.v1: stable
  com.example/else: kept-out
"""
_FILES = {"manifests/csv.yaml": _CSV, "manifests/crd.yaml": _CRD, "metadata/annotations.yaml": _ANNOTATIONS}


def a_config_map(data: Manifest) -> Manifest:
    return {"metadata": {"name": "h", "annotations": data["annotations"]}, "binaryData": data["binaryData"]}


def unpacked(files: dict[str, bytes]) -> UnpackedBundle | BadBundle:
    written = payload(files, "registry/tea:1")
    assert isinstance(written, dict)
    return load(a_config_map(written))


def test_catalog_md_1_5_the_hash_is_sha256_without_its_last_digit() -> None:
    assert len(bundle_hash("quay.io/x/tea:1")) == 63
    assert bundle_hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85"


def test_catalog_md_5_5_files_become_binary_data_encoded_twice() -> None:
    written = payload(_FILES, "registry/tea:1")
    assert isinstance(written, dict)
    assert sorted(written["binaryData"]) == ["crd.yaml", "csv.yaml"]
    once = base64.b64decode(written["binaryData"]["csv.yaml"])
    assert gzip.decompress(base64.b64decode(once)) == _CSV


def test_catalog_md_5_5_the_annotations_are_the_six_keys_the_image_and_the_encoding() -> None:
    written = payload(_FILES, "registry/tea:1")
    assert isinstance(written, dict)
    prefix = "operators.operatorframework.io.bundle."
    assert written["annotations"] == {
        f"{prefix}manifests.v1": "",
        f"{prefix}mediatype.v1": "",
        f"{prefix}metadata.v1": "",
        f"{prefix}package.v1": "tea",
        f"{prefix}channels.v1": "stable",
        f"{prefix}channel.default.v1": "",
        "olm.sourceImage": "registry/tea:1",
        "olm.contentEncoding": "gzip+base64",
    }


def test_the_payload_of_the_same_files_is_the_same_bytes() -> None:
    assert payload(_FILES, "i") == payload(dict(reversed(_FILES.items())), "i")


@pytest.mark.parametrize(
    ("files", "reason", "words"),
    [
        pytest.param({}, "Empty", "not a registry+v1 bundle", id="an image without bundle files"),
        pytest.param(
            _FILES | {"manifests/sub/x.yaml": b""},
            "Malformed",
            "'sub'",
            id="catalog.md 5.5: a subdirectory is an error",
        ),
        pytest.param(
            _FILES | {"manifests/a:b.yaml": b"", "manifests/a-b.yaml": b""},
            "Malformed",
            "share the key 'a-b.yaml'",
            id="fbc.md R403: two files with one key",
        ),
        pytest.param(
            _FILES | {"manifests/noise": random.Random(1).randbytes(800_000)},
            "TooLarge",
            "bundle files exceeded 1048576 bytes limit",
            id="fbc.md R404: over 1 MiB encoded",
        ),
    ],
)
def test_what_cannot_be_unpacked_states_why(files: dict[str, bytes], reason: str, words: str) -> None:
    result = payload(files, "registry/tea:1")
    assert isinstance(result, BadBundle)
    assert result.reason == reason
    assert words in result.message
    assert "registry/tea:1" in result.message


def test_fbc_md_r405_only_the_encoded_size_counts() -> None:
    assert isinstance(unpacked(_FILES | {"manifests/big.txt": b"x" * 4_000_000}), UnpackedBundle)


def test_fbc_md_r408_objects_come_in_the_order_of_their_files() -> None:
    bundle = unpacked(_FILES)
    assert isinstance(bundle, UnpackedBundle)
    assert [manifest["kind"] for manifest in bundle.objects] == ["CustomResourceDefinition", "ClusterServiceVersion"]
    assert bundle.csv["metadata"]["name"] == "tea.v1"


def test_fbc_md_r397_plain_text_is_read_too() -> None:
    bundle = load({"metadata": {"name": "h"}, "data": {"csv.yaml": _CSV.decode(), "x.yaml": "a: ["}})
    assert isinstance(bundle, UnpackedBundle)
    assert len(bundle.objects) == 1


def test_fbc_md_r402_characters_outside_a_key_become_dashes() -> None:
    written = payload(_FILES | {"manifests/foo:bar.yaml": b"a: 1"}, "i")
    assert isinstance(written, dict)
    assert "foo-bar.yaml" in written["binaryData"]


def test_fbc_md_r409_and_r411_what_is_no_object_is_passed_over() -> None:
    bundle = unpacked(
        _FILES
        | {"metadata/dependencies.yaml": b"dependencies: []", "manifests/bad.yaml": b"a: [", "manifests/l": b"[]"}
    )
    assert isinstance(bundle, UnpackedBundle)
    assert len(bundle.objects) == 2


def test_annotations_that_are_no_yaml_leave_the_six_keys_empty() -> None:
    written = payload(_FILES | {"metadata/annotations.yaml": b"a: ["}, "registry/tea:1")
    assert isinstance(written, dict)
    ours = {key: value for key, value in written["annotations"].items() if key.startswith("operators.")}
    assert set(ours.values()) == {""}
    assert len(ours) == 6


def test_an_object_whose_metadata_is_no_object_is_named() -> None:
    found = unpacked(_FILES | {"manifests/role.yaml": b"kind: Role\nmetadata: 3\n"})
    assert isinstance(found, BadBundle)
    assert (found.reason, "Role" in found.message) == ("Malformed", True)


def test_fbc_md_r410_of_two_csvs_the_last_key_counts() -> None:
    bundle = unpacked(_FILES | {"manifests/z.yaml": _CSV.replace(b"tea.v1", b"tea.v2")})
    assert isinstance(bundle, UnpackedBundle)
    assert bundle.csv["metadata"]["name"] == "tea.v2"
    assert len(bundle.objects) == 3


def _encoded(content: bytes) -> str:
    return base64.b64encode(base64.b64encode(content)).decode()


@pytest.mark.parametrize(
    ("binary", "reason", "words"),
    [
        pytest.param({}, "Empty", "holds no objects", id="catalog.md 5.4 row 7: nothing unpacked yet"),
        pytest.param(
            {"a": _encoded(gzip.compress(_CRD))},
            "NoClusterServiceVersion",
            "only: CustomResourceDefinition",
            id="catalog.md 5.4: a bundle without a CSV",
        ),
        pytest.param({"a": "%%"}, "Malformed", "failed to extract bundle from configmap", id="fbc.md R414: no base64"),
        pytest.param(
            {"a": _encoded(gzip.compress(bytes(70_000_000), 1))}, "Malformed", "more than 67108864 bytes", id="a bomb"
        ),
        pytest.param({"a": _encoded(b"x")}, "Malformed", "error decoding gzip-encoded", id="fbc.md R414: no gzip"),
        pytest.param(
            {"a": _encoded(gzip.compress(_CSV)[:-9])}, "Malformed", "error decoding gzip-encoded", id="R414: cut off"
        ),
        pytest.param(
            {"a": _encoded(gzip.compress(_CSV.split(b"\n", 1)[1]))},
            "Malformed",
            "bundle CSV tea.v1 missing APIVersion",
            id="catalog.md 161 E: CSV without apiVersion",
        ),
    ],
)
def test_a_config_map_that_holds_no_bundle_states_why(binary: dict[str, str], reason: str, words: str) -> None:
    annotations = {"olm.contentEncoding": "gzip+base64"}
    result = load({"metadata": {"name": "h", "annotations": annotations}, "binaryData": binary})
    assert isinstance(result, BadBundle)
    assert result.reason == reason
    assert words in result.message


def test_whole_files_come_back_as_they_were() -> None:
    files = {"manifests/a.yaml": b"kind: A", "metadata/annotations.yaml": b"annotations: {}"}
    found = whole(files, "image")
    assert isinstance(found, dict)
    assert files_in(found) == files


def test_whole_files_have_a_limit_of_their_own() -> None:
    noise = random.Random(1).randbytes(12 * 1024 * 1024)
    found = whole({"manifests/a.yaml": noise}, "image")
    assert isinstance(found, BadBundle)
    assert "image: bundle files exceeded 16777216 bytes limit" in found.message
