from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from eventing.content import unpack
from eventing.content.unpack import fill, filled, main
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest
from shared.kinds import CONFIG_MAP, Ref
from tests.kit.image_registry import Answer, Request, a_file, a_layer, scripted_registry

_REF = CONFIG_MAP.ref("h", "olm")
_PAYLOAD: Manifest = {"annotations": {"olm.sourceImage": "i"}, "binaryData": {"csv.yaml": "eA=="}}


def a_config_map(**fields: Any) -> Manifest:
    meta = {"name": "h", "namespace": "olm", "resourceVersion": "1"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta | fields.pop("metadata", {}), **fields}


class FakeConfigMaps:
    """One ConfigMap; the first `conflicts` writes are refused."""

    def __init__(self, present: Manifest | None, conflicts: int = 0) -> None:
        self.present, self.conflicts = present, conflicts
        self.writes = 0

    def get(self, ref: Ref) -> Manifest | None:
        return self.present if ref == _REF else None

    def replace(self, manifest: Manifest) -> Manifest:
        self.writes += 1
        if self.writes <= self.conflicts:
            raise ApiError(409, "Conflict", "the object has been modified")
        self.present = manifest
        return manifest


def test_catalog_md_5_5_the_content_replaces_what_was_there() -> None:
    before = a_config_map(data={"old": "x"}, binaryData={"older": "eA=="})
    after = filled(before, _PAYLOAD)
    assert "data" not in after
    assert after["binaryData"] == {"csv.yaml": "eA=="}
    assert after["metadata"]["resourceVersion"] == "1"


def test_fbc_md_r401_annotations_of_others_stay() -> None:
    after = filled(a_config_map(metadata={"annotations": {"a": "b", "olm.sourceImage": "old"}}), _PAYLOAD)
    assert after["metadata"]["annotations"] == {"a": "b", "olm.sourceImage": "i"}


def test_a_config_map_that_changes_meanwhile_is_read_again() -> None:
    cluster = FakeConfigMaps(a_config_map(), conflicts=2)
    fill(cluster, _REF, _PAYLOAD)
    assert cluster.present == filled(a_config_map(), _PAYLOAD)
    with pytest.raises(ApiError, match="modified"):
        fill(FakeConfigMaps(a_config_map(), conflicts=99), _REF, _PAYLOAD)


def test_filling_twice_writes_once() -> None:
    cluster = FakeConfigMaps(a_config_map())
    fill(cluster, _REF, _PAYLOAD)
    fill(cluster, _REF, _PAYLOAD)
    assert cluster.writes == 1


def test_fbc_md_r396_a_config_map_that_is_gone_is_reported() -> None:
    with pytest.raises(ApiError, match='configmaps "h" not found'):
        fill(FakeConfigMaps(None), _REF, _PAYLOAD)


def test_an_image_that_cannot_be_had_ends_with_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    with scripted_registry() as registry:
        image = f"{registry.address}/tea:1"
        assert main(image, _REF) == 1
    output = capfd.readouterr().err
    assert output == f"NotFound: {image}: {registry.address} does not have this image: check its name and tag\n"


def test_a_bundle_that_is_none_ends_with_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    with scripted_registry() as registry:
        registry.put("tea", "1", [a_layer(a_file("x"))])
        assert main(f"{registry.address}/tea:1", _REF) == 1
    assert "it is not a registry+v1 bundle" in capfd.readouterr().err


def test_no_cluster_ends_with_one_sentence(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OLMF_KUBECONFIG", str(tmp_path / "absent"))
    with scripted_registry() as registry:
        registry.put("tea", "1", [a_layer(a_file("manifests/a"))])
        assert main(f"{registry.address}/tea:1", _REF) == 1
    output = capfd.readouterr().err
    assert str(tmp_path / "absent") in output
    assert output.count("\n") == 1


def test_mounted_pull_secrets_open_the_registry(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    login = base64.b64encode(b"me:x").decode()

    def gate(request: Request) -> Answer | None:
        is_known = request.authorization == f"Basic {login}"
        return None if is_known else Answer(status=401, headers={"WWW-Authenticate": "Basic"})

    with scripted_registry() as registry:
        (tmp_path / "pull").mkdir()
        config = {"auths": {registry.address: {"auth": login}}}
        (tmp_path / "pull" / ".dockerconfigjson").write_text(json.dumps(config))
        registry.gate = gate
        assert main(f"{registry.address}/tea:1", _REF) == 1
        assert capfd.readouterr().err.startswith("Unauthorized: ")
        monkeypatch.setattr(unpack, "PULL_SECRETS", tmp_path)
        assert main(f"{registry.address}/tea:1", _REF) == 1
        assert capfd.readouterr().err.startswith("NotFound: ")


def test_a_bundle_comes_from_the_mirror_of_the_job(capfd: pytest.CaptureFixture[str]) -> None:
    with scripted_registry() as registry:
        source = {
            "source": "quay.io/acme",
            "mirrors": [f"{registry.address}/m"],
            "mirrorSourcePolicy": "NeverContactSource",
        }
        reported = json.dumps([{"spec": {"imageTagMirrors": [source]}}])
        assert main("quay.io/acme/tea:1", _REF, reported) == 1
        output = capfd.readouterr().err
        assert output.startswith(
            "MirrorMiss: quay.io/acme/tea:1: none of the mirrors and locations that are set for it"
        )
        registry.put("m/tea", "1", [a_layer(a_file("x"))])
        assert main("quay.io/acme/tea:1", _REF, reported) == 1
    assert "it is not a registry+v1 bundle" in capfd.readouterr().err


def test_mirrors_that_are_none_end_with_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    for reported in ("{", "[1]", '[{"spec": {"imageTagMirrors": 1}}]'):
        assert main("quay.io/acme/tea:1", _REF, reported) == 1
        assert capfd.readouterr().err.startswith(f"Malformed: --mirrors {reported}: wanted a list")
