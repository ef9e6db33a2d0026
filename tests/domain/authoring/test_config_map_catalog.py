"""Catalogs in ConfigMaps as file-based catalogs (catalog.md §2.6)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.api.views import ConfigMap
from shared.domain.authoring.config_map_catalog import converted
from shared.domain.catalog.documents import NotACatalog
from shared.domain.serving.registry_api import content_of

Json = Any
CRD: Json = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "cups.tea.io"},
    "spec": {"versions": [{"name": "v1"}]},
}  # fmt: skip
NEWER = {**CRD, "spec": {"versions": [{"name": "v2"}]}}
OTHER = {**CRD, "metadata": {"name": "pots.tea.io"}}


def a_csv(name: str, replaces: str = "", **spec: Json) -> Json:
    meta = {"name": name, "annotations": {"olm.skipRange": "<2.0.0"} if name == "tea.v2" else {}}
    owned = {"owned": [{"name": "cups.tea.io", "version": "v1", "kind": "Cup"}]}
    declared = {"version": f"{name[-1]}.0.0", "replaces": replaces, "customresourcedefinitions": owned, **spec}
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": meta,
        "spec": declared,
    }


def a_package(*channels: tuple[str, str], name: str = "tea", **more: Json) -> Json:
    return {"packageName": name, "channels": [{"name": one, "currentCSV": csv} for one, csv in channels], **more}


def a_config_map(*packages: Json, csvs: Json = (), **data: str) -> ConfigMap:
    lists = {
        "customResourceDefinitions": [CRD, NEWER, OTHER],
        "clusterServiceVersions": list(csvs),
        "packages": packages,
    }
    return ConfigMap({"data": {**{key: json.dumps(value) for key, value in lists.items()}, **data}})


TEA = (a_csv("tea.v3", "tea.v2", skips=["tea.v1"]), a_csv("tea.v2", "tea.v1"), a_csv("tea.v1", "tea.v0"))


def test_channels_follow_what_is_replaced() -> None:
    catalog = converted(
        a_config_map(a_package(("stable", "tea.v3"), ("old", "tea.v1"), defaultChannel="stable"), csvs=TEA)
    )
    package, stable, old, *bundles = catalog.documents
    assert (package["name"], package["defaultChannel"], catalog.left_out) == ("tea", "stable", [])
    assert stable["entries"] == [
        {"name": "tea.v3", "replaces": "tea.v2", "skips": ["tea.v1"]},
        {"name": "tea.v2", "replaces": "tea.v1", "skipRange": "<2.0.0"},
        {"name": "tea.v1", "replaces": "tea.v0"},
    ]
    assert old["entries"] == [{"name": "tea.v1", "replaces": "tea.v0"}]
    assert [one["name"] for one in bundles] == ["tea.v3", "tea.v2", "tea.v1"]


def test_a_bundle_is_a_version_with_the_definitions_that_it_owns() -> None:
    *_, bundle = converted(a_config_map(a_package(("stable", "tea.v1")), csvs=TEA[-1:])).documents
    assert (bundle["image"], bundle["package"]) == ("", "tea")
    identity = {"type": "olm.package", "value": {"packageName": "tea", "version": "1.0.0"}}
    assert identity in bundle["properties"]
    objects = [json.loads(text) for text in content_of(bundle, "1.0.0", {}).objects]
    assert sorted(one["metadata"]["name"] for one in objects) == ["cups.tea.io", "tea.v1"]
    [definition] = [one for one in objects if one["kind"] == "CustomResourceDefinition"]
    assert definition["spec"]["versions"] == CRD["spec"]["versions"], "the one with the version that it owns"


def test_the_only_channel_is_the_default_one() -> None:
    assert converted(a_config_map(a_package(("a", "tea.v1")), csvs=TEA)).documents[0]["defaultChannel"] == "a"


def test_the_only_channel_is_the_default_one_whatever_the_package_says() -> None:
    package = a_package(("a", "tea.v1"), defaultChannel="b")
    assert converted(a_config_map(package, csvs=TEA)).documents[0]["defaultChannel"] == "a"


def test_the_last_package_of_a_name_counts() -> None:
    found = converted(a_config_map(a_package(("a", "tea.v1")), a_package(("a", "tea.v2")), csvs=TEA))
    package, channel, *_ = found.documents
    assert (package["schema"], channel["entries"][0]["name"]) == ("olm.package", "tea.v2")
    assert [one["schema"] for one in found.documents].count("olm.package") == 1


def test_a_circle_ends() -> None:
    circle = (a_csv("tea.v1", "tea.v2"), a_csv("tea.v2", "tea.v1"))
    _, channel, *_ = converted(a_config_map(a_package(("a", "tea.v1")), csvs=circle)).documents
    assert [one["name"] for one in channel["entries"]] == ["tea.v1", "tea.v2"]


WRONG = [
    pytest.param(a_package(("a", "tea.v9")), "channel a: there is no ClusterServiceVersion tea.v9", id="no version"),
    pytest.param(a_package(("a", "tea.v1"), ("b", "tea.v1")), "its default channel is none", id="no default channel"),
    pytest.param(
        a_package(("a", "tea.v1"), ("b", "tea.v1"), defaultChannel="c"),
        "its default channel is none",
        id="another default",
    ),
    pytest.param(a_package(), "it needs a name, and channels", id="no channel"),
    pytest.param(a_package(("a", "tea.v1"), name=""), "it needs a name, and channels", id="no name"),
    pytest.param(a_package(("a", "tea.v1"), ("a", "tea.v2")), "it needs a name, and channels", id="one name twice"),
    pytest.param(a_package(("a", "bad.v1")), "spec.version", id="a version that is none"),
    pytest.param({"packageName": 7, "channels": "x"}, "it needs a name, and channels", id="junk"),
]


@pytest.mark.parametrize(("package", "why"), WRONG)
def test_a_wrong_package_is_left_out_alone(package: Json, why: str) -> None:
    csvs = (*TEA, a_csv("bad.v1", version=7))
    catalog = converted(a_config_map(package, a_package(("a", "tea.v1"), name="cup"), csvs=csvs))
    assert catalog.documents[0]["name"] == "cup"
    [reported] = catalog.left_out
    assert why in reported


@pytest.mark.parametrize("key", ["customResourceDefinitions", "clusterServiceVersions", "packages"])
@pytest.mark.parametrize(
    ("text", "why"), [("{ no yaml", "did not find"), ("a: b", "wanted a list"), ("7", "wanted a list")]
)
def test_no_catalog(key: str, text: str, why: str) -> None:
    with pytest.raises(NotACatalog) as error:
        converted(a_config_map(**{key: text}))
    assert error.value.why.startswith(f"{key}: ")
    assert why in error.value.why


def test_an_empty_config_map_is_an_empty_catalog() -> None:
    assert converted(ConfigMap({})).documents == []
