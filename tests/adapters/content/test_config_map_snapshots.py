"""Catalogs of ConfigMaps in the store: whose they are, and what their references give."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from shared.adapters.content.bundles import ImageBundles
from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.pulling import Puller
from shared.adapters.content.store import Store
from shared.adapters.kube import ApiError
from shared.domain.bundle.inline import InlineBundle
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.bundle.payload import load
from shared.domain.image_source import ImageSource
from shared.kinds import CONFIG_MAP, Ref
from shared.ports import Pulled, Unavailable

Json = Any
PLACE = CONFIG_MAP.ref("kitchen", "mine")
OURS = ImageSource("configmap://kitchen", "mine")
THEIRS = ImageSource("configmap://kitchen", "theirs")


def content(version: str) -> Json:
    name = f"tea.v{version}"
    csv = {
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "metadata": {"name": name},
        "spec": {"version": version},
    }  # fmt: skip
    packages = [{"packageName": "tea", "channels": [{"name": "a", "currentCSV": name}]}]
    return {"data": {"clusterServiceVersions": json.dumps([csv]), "packages": json.dumps(packages)}}


class Cluster(dict[Ref, Json]):
    """ConfigMaps."""

    is_away = False

    def read(self, ref: Ref) -> Json:
        if self.is_away:
            raise ApiError(503, "ServiceUnavailable", "away")
        return self.get(ref)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster({PLACE: content("1.0.0")})


def catalogs(folder: Path, cluster: Cluster) -> ImageCatalogs:
    return ImageCatalogs(Store(folder), Puller(lambda *_: None), get=cluster.read)


def pulled(found: ImageCatalogs) -> str:
    answer = found.pull(OURS)
    assert isinstance(answer, Pulled)
    assert answer.packages == 1
    return answer.reference


def test_a_reference_is_its_content(tmp_path: Path, cluster: Cluster) -> None:
    found = catalogs(tmp_path, cluster)
    first = pulled(found)
    assert pulled(found) == first
    assert first.startswith("configmap://mine/kitchen@sha256:")
    cluster[PLACE] = content("2.0.0")
    second = pulled(found)
    assert second != first
    assert found.packages(first, OURS) == found.packages(second, OURS) == ("tea",)


def test_another_worker_reads_the_config_map_again(tmp_path: Path, cluster: Cluster) -> None:
    first = pulled(catalogs(tmp_path / "a", cluster))
    other = catalogs(tmp_path / "b", cluster)
    assert other.packages(first, OURS) == ("tea",)
    cluster[PLACE] = content("2.0.0")
    gone = catalogs(tmp_path / "c", cluster).packages(first, OURS)
    assert isinstance(gone, Unavailable)
    assert "another content by now" in gone.message


def test_the_content_of_another_namespace_is_nobodys(tmp_path: Path, cluster: Cluster) -> None:
    """Whatever a status says: references are texts that tenants can write."""
    found = catalogs(tmp_path, cluster)
    first = pulled(found)
    assert isinstance(found.packages(first, THEIRS), Unavailable)
    cluster[CONFIG_MAP.ref("kitchen", "theirs")] = content("3.0.0")
    forged = first.replace("//mine/", "//theirs/")
    assert isinstance(found.packages(forged, THEIRS), Unavailable), "a digest is no password"
    for junk in ("configmap://", "configmap://theirs/kitchen", "configmap://theirs/..@sha256:0"):
        assert isinstance(found.packages(junk, THEIRS), Unavailable)


@pytest.mark.parametrize("name", ["absent", "..", "a/b", ""])
def test_a_config_map_that_is_not_there(tmp_path: Path, cluster: Cluster, name: str) -> None:
    answer = catalogs(tmp_path, cluster).pull(ImageSource(f"configmap://{name}", "mine"))
    assert isinstance(answer, Unavailable)
    assert (answer.reason, "not found" in answer.message) == ("NotFound", True)


def test_an_api_server_that_is_away(tmp_path: Path, cluster: Cluster) -> None:
    cluster.is_away = True
    answer = catalogs(tmp_path, cluster).pull(OURS)
    assert isinstance(answer, Unavailable)
    assert answer.reason == "Unreachable"


def test_a_bundle_of_it_is_unpacked(tmp_path: Path, cluster: Cluster) -> None:
    found = catalogs(tmp_path, cluster)
    inline = InlineBundle("tea", "tea.v1.0.0", pulled(found))
    bundles = ImageBundles(Puller(lambda *_: None), found)
    payload = bundles.config_map_payload(ImageSource(str(inline), "mine"))
    assert isinstance(payload, dict)
    unpacked = load({"metadata": {"annotations": payload["annotations"]}, "binaryData": payload["binaryData"]})
    assert isinstance(unpacked, UnpackedBundle)
    assert unpacked.csv["metadata"]["name"] == "tea.v1.0.0"
    assert isinstance(bundles.config_map_payload(ImageSource(str(inline), "theirs")), Unavailable)
    absent = bundles.config_map_payload(ImageSource(str(InlineBundle("tea", "tea.v9", inline.reference)), "mine"))
    assert isinstance(absent, Unavailable)
    assert "neither an image nor manifests" in absent.message


def test_a_bundle_that_does_not_fit_is_too_large(tmp_path: Path, cluster: Cluster) -> None:
    held = content("1.0.0")
    [csv] = json.loads(held["data"]["clusterServiceVersions"])
    csv["spec"]["description"] = Random(7).randbytes(1_000_000).hex()
    cluster[PLACE] = {"data": {**held["data"], "clusterServiceVersions": json.dumps([csv])}}
    found = catalogs(tmp_path, cluster)
    inline = InlineBundle("tea", "tea.v1.0.0", pulled(found))
    answer = ImageBundles(Puller(lambda *_: None), found).config_map_payload(ImageSource(str(inline), "mine"))
    assert isinstance(answer, Unavailable)
    assert (answer.reason, "bundle files exceeded 1048576 bytes limit" in answer.message) == ("TooLarge", True)
