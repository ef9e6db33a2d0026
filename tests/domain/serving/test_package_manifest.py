"""PackageManifests of a package: what they say of its channels and versions, and their labels (csv.md §13)."""

from __future__ import annotations

from typing import Any

import pytest

from shared.api.views import CatalogSource, Csv
from shared.domain.catalog.model import Bundle, Channel, Entry, Package, Property
from shared.domain.serving.csv_description import description, icon
from shared.domain.serving.package_manifest import package_manifest

Json = Any
SOURCE = CatalogSource(
    {
        "metadata": {
            "name": "shop", "namespace": "olm", "labels": {"team": "tea"}, "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"displayName": "The shop", "publisher": "Acme"},
    }
)  # fmt: skip


def a_csv(name: str = "tea.v2", labels: Json = None, **spec: Json) -> Csv:
    provider = {"name": "Acme", "url": "https://acme.example.com"}
    return Csv({"metadata": {"name": name, "labels": labels or {}}, "spec": {"provider": provider, **spec}})


def a_package(*channels: str, default: str = "stable", deprecations: Json = None) -> Package:
    bundles = {
        "tea.v1": Bundle("tea.v1", "1.0.0", "i", (Property("olm.deprecated", {}),)),
        "tea.v2": Bundle("tea.v2", "2.0.0", "i"),
        "tea.v10": Bundle("tea.v10", "10.0.0", "i"),
        "tea.odd": Bundle("tea.odd", "odd", "i"),
    }
    entries = tuple(map(Entry, ("tea.v1", "tea.odd", "tea.v2", "tea.v10", "tea.absent")))
    return Package("tea", default, tuple(Channel(one, entries) for one in channels), bundles, deprecations or {})


def made(package: Package, *channels: str, **more: Json) -> Json:
    found = package_manifest(SOURCE, package, {channel: a_csv(**more) for channel in channels})
    assert found is not None
    return found


def test_261_a_good_bundle() -> None:
    found = made(a_package("stable"), "stable", displayName="Tea")
    assert {key: value for key, value in found.items() if key not in ("metadata", "status")} == {
        "kind": "PackageManifest", "apiVersion": "packages.operators.coreos.com/v1", "spec": {},
    }  # fmt: skip
    status = found["status"]
    assert {key: value for key, value in status.items() if key != "channels"} == {
        "catalogSource": "shop", "catalogSourceDisplayName": "The shop", "catalogSourcePublisher": "Acme",
        "catalogSourceNamespace": "olm", "provider": {"name": "Acme", "url": "https://acme.example.com"},
        "packageName": "tea", "defaultChannel": "stable",
    }  # fmt: skip
    [channel] = status["channels"]
    assert (channel["name"], channel["currentCSV"], channel["currentCSVDesc"]["displayName"]) == (
        "stable", "tea.v2", "Tea",
    )  # fmt: skip


def test_158_a_deprecated_bundle_is_no_entry_and_versions_go_down() -> None:
    [channel] = made(a_package("stable"), "stable", name="tea.v1")["status"]["channels"]
    assert channel["currentCSV"] == "tea.v1"
    assert [(one["name"], one["version"]) for one in channel["entries"]] == [
        ("tea.v10", "10.0.0"), ("tea.v2", "2.0.0"), ("tea.odd", "odd"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("channels", "read", "default"),
    [
        pytest.param(("b", "a"), ("a", "b"), "b", id="csv.md 261: all are read"),
        pytest.param(("b", "a"), ("b",), "b", id="csv.md 157, 263: one without a bundle"),
        pytest.param(("c", "b", "a"), ("c", "a"), "a", id="csv.md 157, 264: the default without a bundle"),
    ],
)
def test_channels_that_can_be_read(channels: tuple[str, ...], read: tuple[str, ...], default: str) -> None:
    status = made(a_package(*channels, default="b"), *read)["status"]
    assert [one["name"] for one in status["channels"]] == sorted(read)
    assert status["defaultChannel"] == default


def test_157_265_276_without_a_channel_there_is_no_package() -> None:
    assert package_manifest(SOURCE, a_package("stable"), {}) is None


@pytest.mark.parametrize(
    ("key", "level"),
    [
        pytest.param("package", "status", id="csv.md 266: of the package"),
        pytest.param("channel/stable", "channel", id="csv.md 267: of a channel"),
        pytest.param("bundle/tea.v2", "entry", id="csv.md 268: of an entry"),
    ],
)
def test_deprecations(key: str, level: str) -> None:
    status = made(a_package("stable", deprecations={key: "use coffee"}), "stable")["status"]
    channel = status["channels"][0]
    found = {"status": status, "channel": channel, "entry": channel["entries"][1]}
    assert [name for name, one in found.items() if "deprecation" in one] == [level]
    assert found[level]["deprecation"] == {"message": "use coffee"}


def test_269_deprecations_of_all_three() -> None:
    three = dict.fromkeys(("package", "channel/stable", "bundle/tea.v10"), "no")
    status = made(a_package("stable", deprecations=three), "stable")["status"]
    channel = status["channels"][0]
    assert [one["deprecation"] for one in (status, channel, channel["entries"][0])] == [{"message": "no"}] * 3


OS, ARCH = "operatorframework.io/os.linux", "operatorframework.io/arch.amd64"


@pytest.mark.parametrize(
    ("labels", "supported"),
    [
        pytest.param({}, {OS, ARCH}, id="csv.md 159: none"),
        pytest.param({"operatorframework.io/os.zos": "supported"}, {ARCH}, id="csv.md 159: a system"),
        pytest.param({"operatorframework.io/arch.arm64": "supported"}, {OS}, id="csv.md 159: an architecture"),
        pytest.param({OS: "no", ARCH: "no"}, set(), id="csv.md 262: both"),
    ],
)
def test_what_it_runs_on(labels: Json, supported: set[str]) -> None:
    found = made(a_package("stable"), "stable", labels=labels)["metadata"]["labels"]
    assert {key for key in (OS, ARCH) if found.get(key) == "supported"} == supported
    assert labels.items() <= found.items()


def test_13_4_labels_of_the_version_go_before_those_of_the_catalog() -> None:
    found = made(a_package("stable"), "stable", labels={"team": "csv", "catalog": "other"})["metadata"]
    assert {key: value for key, value in found["labels"].items() if "/" not in key} == {
        "team": "csv", "catalog": "other", "catalog-namespace": "olm", "provider": "Acme",
        "provider-url": "https://acme.example.com",
    }  # fmt: skip
    assert found["creationTimestamp"] == "2026-01-01T00:00:00Z"


def test_13_2_a_description() -> None:
    pod = {"containers": [{"image": "b"}], "initContainers": [{"image": "a"}]}
    crd = {"name": "pots.tea.io", "version": "v1", "kind": "Pot", "displayName": "P", "resources": []}
    api = {"name": "cups", "group": "tea.io", "version": "v1", "kind": "Cup", "deploymentName": "d"}
    found = description(
        a_csv(
            version="2.0.0", keywords=["tea", 7], links=[{"name": "docs", "url": "u"}], maturity="alpha",
            maintainers=[{"name": "Ann", "email": "a@example.com"}], minKubeVersion="1.30.0",
            installModes=[{"type": "AllNamespaces", "supported": True}],
            customresourcedefinitions={"owned": [crd]}, apiservicedefinitions={"required": [api]},
            nativeAPIs=[{"group": "apps", "version": "v1", "kind": "Deployment"}],
            install={"spec": {"deployments": [{"spec": {"template": {"spec": pod}}}]}},
            relatedImages=[{"name": "x", "image": "c"}, {"name": "y", "image": "a"}], icon=[{"base64data": "eA=="}],
        )
    )  # fmt: skip
    assert found == {
        "version": "2.0.0", "provider": {"name": "Acme", "url": "https://acme.example.com"}, "keywords": ["tea"],
        "links": [{"name": "docs", "url": "u"}], "maturity": "alpha", "minKubeVersion": "1.30.0",
        "maintainers": [{"name": "Ann", "email": "a@example.com"}],
        "installModes": [{"type": "AllNamespaces", "supported": True}],
        "customresourcedefinitions": {"owned": [{key: crd[key] for key in crd if key != "resources"}]},
        "apiservicedefinitions": {"required": [{key: api[key] for key in api if key != "deploymentName"}]},
        "nativeApis": [{"group": "apps", "version": "v1", "kind": "Deployment"}], "relatedImages": ["a", "b", "c"],
    }  # fmt: skip


@pytest.mark.parametrize("spec", [None, 7, {"icon": 7}, {"icon": ["x"]}, {"icon": [{}]}])
def test_no_icon(spec: Json) -> None:
    assert icon(Csv({"spec": spec})) == ("", "")


JUNK = [None, 7, "x", [7], {"owned": 7}, {"spec": {"deployments": [{"spec": {"template": 7}}]}}]


@pytest.mark.parametrize("junk", JUNK)
def test_junk_is_left_out(junk: Json) -> None:
    keys = ("links", "installModes", "customresourcedefinitions", "install", "keywords", "relatedImages", "provider")
    found = description(Csv({"metadata": {"name": "x", "annotations": junk}, "spec": dict.fromkeys(keys, junk)}))
    assert found.keys() <= {"provider", "customresourcedefinitions", "apiservicedefinitions", "annotations"}
