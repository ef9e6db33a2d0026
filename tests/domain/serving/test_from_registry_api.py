from __future__ import annotations

import base64
from typing import Any

import pytest

from shared.domain.catalog.documents import Document
from shared.domain.catalog.model import Package
from shared.domain.serving.from_registry_api import BadResponse, documents, lines_of
from shared.domain.serving.registry_api import Content, bundle_message, package_message
from tests.domain.serving.test_registry_api import TEA
from tests.kit.fbc import packages_of
from tests.kit.waiting import costing_at_most

_POT = '{"group":"tea.io","version":"v1","kind":"Pot"}'


def reported(**fields: Any) -> dict[str, Any]:
    return {"packageName": "tea", "channelName": "stable", "csvName": "tea.v1", "version": "1.0.0", **fields}


def a_bundle(**fields: Any) -> dict[str, Any]:
    found = list(documents([{"name": "tea", "defaultChannelName": "stable"}], [reported(**fields)]))
    return next(one for one in found if one["schema"] == "olm.bundle")


def values(bundle: dict[str, Any], kind: str) -> list[Any]:
    return [one["value"] for one in bundle["properties"] if one["type"] == kind]


def test_fbc_md_r395_what_is_reported_and_read_back_is_the_same() -> None:
    bundles = [
        bundle_message(TEA, channel.name, TEA.bundles[entry.name], Content(), entry=entry)
        for channel in TEA.channels
        for entry in channel.entries
    ]
    found = list(documents([package_message(TEA)], bundles))
    read = [Document("x", one["schema"], one.get("package", ""), one.get("name", ""), one) for one in found]
    (tea,) = packages_of(read)
    assert isinstance(tea, Package)
    assert (tea.name, tea.default_channel, tea.deprecations) == ("tea", "stable", TEA.deprecations)
    assert sorted(tea.channels, key=lambda one: one.name) == [
        type(TEA.channels[1])("fast", (type(TEA.channels[1].entries[0])("tea.v1.2.0", "", (), ""),)),
        TEA.channels[0],
    ]
    assert {name: (one.version, one.image) for name, one in tea.bundles.items()} == {
        name: (one.version, one.image) for name, one in TEA.bundles.items()
    }


def test_fbc_md_15_6_what_is_told_elsewhere_becomes_properties() -> None:
    bundle = a_bundle(
        providedApis=[{"group": "tea.io", "version": "v1", "kind": "Pot", "plural": "pots"}],
        requiredApis=[{"group": "cup.io", "version": "v1", "kind": "Cup"}],
        dependencies=[
            {"type": "olm.gvk", "value": _POT},
            {"type": "olm.package", "value": '{"packageName":"cup","version":">1"}'},
            {"type": "olm.package", "value": "3"},
            {"type": "olm.label", "value": '"x"'},
        ],
    )
    assert values(bundle, "olm.package") == [{"packageName": "tea", "version": "1.0.0"}]
    assert values(bundle, "olm.gvk") == [{"group": "tea.io", "kind": "Pot", "version": "v1"}]
    assert [one["kind"] for one in values(bundle, "olm.gvk.required")] == ["Cup", "Pot"]
    assert values(bundle, "olm.package.required") == [{"packageName": "cup", "versionRange": ">1"}, 3]
    assert values(bundle, "olm.label") == []


def test_what_is_told_twice_is_one_property() -> None:
    properties = [{"type": "olm.package", "value": '{"packageName":"tea","version":"1.0.0"}'}]
    properties.append({"type": "olm.gvk", "value": _POT})
    bundle = a_bundle(properties=properties, providedApis=[{"group": "tea.io", "version": "v1", "kind": "Pot"}])
    assert [one["type"] for one in bundle["properties"]] == ["olm.package", "olm.gvk"]


def test_fbc_md_15_6_objects_become_embedded_objects() -> None:
    (found,) = values(a_bundle(object=["{}"]), "olm.bundle.object")
    assert base64.b64decode(found["data"]) == b"{}"


def test_the_message_about_a_package() -> None:
    package = {"name": "tea", "deprecation": {"message": "gone"}, "channels": [{"name": "x"}]}
    *_, last = documents([package], [])
    assert last["entries"] == [{"reference": {"schema": "olm.package"}, "message": "gone"}]


@pytest.mark.parametrize("value", ["{", "", "NaN"])
def test_a_property_that_is_no_json_names_its_bundle(value: str) -> None:
    with pytest.raises(BadResponse, match=r"bundle tea\.v1 of package tea: a property cannot be read"):
        a_bundle(properties=[{"type": "x", "value": value}])


def test_documents_become_lines() -> None:
    assert lines_of([{"schema": "a"}, {"schema": "b"}]) == b'{"schema":"a"}\n{"schema":"b"}\n'


@pytest.mark.parametrize("name", [{}, {"name": "tea.v1"}], ids=["nameless", "named"])
def test_a_document_that_is_nested_too_deep_is_reported(name: dict[str, str]) -> None:
    deep: list[Any] = []
    for _ in range(300):
        deep = [deep]
    with pytest.raises(BadResponse, match=f"olm.bundle {name.get('name', 'cannot')}.*kept: recursion limit reached"):
        lines_of([{"schema": "olm.bundle", **name, "properties": deep}])


def test_many_channels_and_apis_take_no_longer_than_they_are_many() -> None:
    apis = [{"group": "tea.io", "version": "v1", "kind": f"Pot{number}"} for number in range(10_000)]
    bundles = [reported(channelName=f"c{number}", csvName=f"tea.v{number}") for number in range(10_000)]
    package = {"name": "tea", "defaultChannelName": "c0"}
    with costing_at_most(20, "to look at all of them for each takes a minute"):
        assert len(values(a_bundle(providedApis=[*apis, *apis]), "olm.gvk")) == len(apis)
        assert len(list(documents([package], bundles))) == 1 + 2 * len(bundles)
