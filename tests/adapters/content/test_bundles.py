from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from shared.adapters.content.bundles import ImageBundles
from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.pulling import Puller
from shared.adapters.content.store import Store
from shared.adapters.oci.transport import Transport
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.bundle.payload import load
from shared.domain.image_source import ImageSource
from shared.ports import Unavailable
from tests.kit.image_registry import ScriptedRegistry, a_file, a_layer, scripted_registry

_CSV = b"apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: tea.v1}\n"


@pytest.fixture
def registry() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as scripted:
        yield scripted


def payload(registry: ScriptedRegistry, *files: tuple[str, bytes]) -> object:
    registry.put("tea", "1", [a_layer(*(a_file(path, content) for path, content in files))])
    source = ImageSource(f"{registry.address}/tea:1", "olm")
    puller = Puller(lambda *_: None, Transport(attempts=1))
    with TemporaryDirectory() as folder:
        return ImageBundles(puller, ImageCatalogs(Store(Path(folder)), puller)).config_map_payload(source)


def test_a_bundle_image_becomes_the_payload_of_its_config_map(registry: ScriptedRegistry) -> None:
    answer = payload(registry, ("manifests/csv.yaml", _CSV), ("etc/os-release", b"x"))
    assert isinstance(answer, dict)
    assert answer["annotations"]["olm.sourceImage"] == f"{registry.address}/tea:1"
    loaded = load({"metadata": {"annotations": answer["annotations"]}, "binaryData": answer["binaryData"]})
    assert isinstance(loaded, UnpackedBundle)
    assert loaded.csv["metadata"]["name"] == "tea.v1"


def test_an_image_without_a_bundle_is_malformed(registry: ScriptedRegistry) -> None:
    answer = payload(registry, ("etc/os-release", b"x"))
    assert isinstance(answer, Unavailable)
    assert answer.reason == "Malformed"
    assert "not a registry+v1 bundle" in answer.message


def test_issue_3_3_a_bundle_over_1_mib_is_too_large(registry: ScriptedRegistry) -> None:
    answer = payload(registry, ("manifests/noise", random.Random(1).randbytes(900_000)))
    assert isinstance(answer, Unavailable)
    assert answer.reason == "TooLarge"
    assert "bundle files exceeded 1048576 bytes limit" in answer.message
