from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from shared.domain.catalog.model import Bundle, Channel, Entry, Package, Property
from shared.domain.serving.registry_api import (
    Content,
    NotServable,
    bundle_message,
    content_of,
    entries_that_provide,
    entries_that_replace,
    head_of,
    package_message,
    provides,
    successor,
)

POT = {"group": "tea.io", "version": "v1", "kind": "Pot"}
_POT = ("tea.io", "v1", "Pot")


def a_bundle(version: str, *properties: Property, image: str = "quay.io/tea") -> Bundle:
    identity = Property("olm.package", {"packageName": "tea", "version": version})
    return Bundle(f"tea.v{version}", version, image, (identity, *properties))


STABLE = Channel(
    "stable",
    (
        Entry("tea.v1.0.0"),
        Entry("tea.v1.1.0", "tea.v1.0.0"),
        Entry("tea.v1.2.0", "tea.v1.0.0", ("tea.v1.1.0",), ">=1.0.0 <1.2.0"),
    ),
)
TEA = Package(
    "tea",
    "stable",
    (STABLE, Channel("fast", (Entry("tea.v1.2.0"),))),
    {
        "tea.v1.0.0": a_bundle("1.0.0", Property("olm.gvk", POT)),
        "tea.v1.1.0": a_bundle("1.1.0"),
        "tea.v1.2.0": a_bundle("1.2.0", Property("olm.gvk", POT)),
    },
    {"channel/fast": "use stable", "bundle/tea.v1.0.0": "too old"},
)


def rows(found: Any) -> list[tuple[str, str, str]]:
    return [(row["channelName"], row["bundleName"], row["replaces"]) for row in found]


def test_fbc_md_15_7_get_package() -> None:
    assert package_message(TEA) == {
        "name": "tea",
        "channels": [
            {"name": "fast", "csvName": "tea.v1.2.0", "deprecation": {"message": "use stable"}},
            {"name": "stable", "csvName": "tea.v1.2.0"},
        ],
        "defaultChannelName": "stable",
    }


def test_fbc_md_r357_the_message_about_a_package() -> None:
    gone = Package("tea", "stable", (), {}, {"package": "gone\n"})
    assert package_message(gone)["deprecation"] == {"message": "gone\n"}


def test_a_channel_without_a_head_is_not_told_of() -> None:
    circle = Channel("c", (Entry("a", "b"), Entry("b", "a")))
    assert head_of(circle) is None
    assert package_message(Package("tea", "c", (circle,), {}))["channels"] == []


def test_fbc_md_15_7_who_replaces() -> None:
    found = [("stable", "tea.v1.2.0", "tea.v1.0.0")]
    assert rows(entries_that_replace([TEA], "tea.v1.1.0")) == found
    assert rows(entries_that_replace([TEA], "tea.v1.0.0")) == [("stable", "tea.v1.1.0", "tea.v1.0.0"), *found]
    assert rows(entries_that_replace([TEA], "none")) == []


def test_fbc_md_15_7_who_provides() -> None:
    assert rows(entries_that_provide(TEA, _POT)) == [
        ("stable", "tea.v1.0.0", ""),
        ("stable", "tea.v1.2.0", "tea.v1.0.0"),
        ("stable", "tea.v1.2.0", "tea.v1.1.0"),
        ("fast", "tea.v1.2.0", ""),
    ]


@pytest.mark.parametrize(
    ("skips", "reported"),
    [
        pytest.param(("tea.v1.1.0",), ["tea.v1.0.0", "tea.v1.1.0"], id="fbc.md 15.3: a skipped entry of the channel"),
        pytest.param(("tea.v1.1.0", "ghost"), ["tea.v1.0.0", "tea.v1.1.0"], id="fbc.md R364: no row for a virtual one"),
        pytest.param(("tea.v1.1.0", "tea.v1.0.0"), ["tea.v1.0.0", "tea.v1.1.0"], id="fbc.md 15.3: one row for each"),
    ],
)
def test_the_latest_that_provide(skips: tuple[str, ...], reported: list[str]) -> None:
    channel = Channel("stable", (*STABLE.entries[:2], Entry("tea.v1.2.0", "tea.v1.0.0", skips)))
    found = rows(entries_that_provide(Package("tea", "stable", (channel,), TEA.bundles), _POT, is_latest=True))
    assert found == [("stable", "tea.v1.2.0", replaces) for replaces in reported]


def test_an_entry_without_a_bundle_provides_nothing() -> None:
    package = Package("tea", "c", (Channel("c", (Entry("ghost"),)),), {})
    assert rows(entries_that_provide(package, _POT)) == []


def test_an_api_is_provided_when_all_of_its_three_words_are() -> None:
    assert provides(a_bundle("1.0.0", Property("olm.gvk", POT)), _POT)
    assert not provides(a_bundle("1.0.0", Property("olm.gvk", POT)), ("tea.io", "v2", "Pot"))
    assert not provides(a_bundle("1.0.0", Property("olm.gvk", "Pot")), _POT)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        pytest.param("tea.v1.1.0", "tea.v1.2.0", id="fbc.md R362: one that is only skipped"),
        pytest.param("tea.v1.0.0", "tea.v1.2.0", id="fbc.md 15.3: of several the highest version"),
        pytest.param("none", None, id="nothing"),
    ],
)
def test_the_successor(name: str, found: str | None) -> None:
    entry = successor(STABLE, TEA.bundles, name)
    assert (entry and entry.name) == found


def test_a_successor_without_a_version_comes_last() -> None:
    channel = Channel("c", (Entry("ghost", "a"), Entry("tea.v1.0.0", "a")))
    entry = successor(channel, TEA.bundles, "a")
    assert entry is not None
    assert entry.name == "tea.v1.0.0"


def test_fbc_md_15_5_the_fields_of_a_bundle() -> None:
    bundle = a_bundle(
        "1.2.0",
        Property("olm.gvk", POT),
        Property("olm.gvk.required", {"group": "cup.io", "version": "v1", "kind": "Cup"}),
        Property("olm.package.required", {"packageName": "cup", "versionRange": ">1"}),
        Property("olm.label", "x"),
    )
    message = bundle_message(TEA, "stable", bundle, Content("{}", ("{}",)))
    assert message == {
        "csvName": "tea.v1.2.0",
        "packageName": "tea",
        "channelName": "stable",
        "csvJson": "{}",
        "object": ["{}"],
        "bundlePath": "quay.io/tea",
        "providedApis": [POT],
        "requiredApis": [{"group": "cup.io", "version": "v1", "kind": "Cup"}],
        "version": "1.2.0",
        "skipRange": ">=1.0.0 <1.2.0",
        "dependencies": [
            {"type": "olm.gvk", "value": '{"group":"cup.io","version":"v1","kind":"Cup"}'},
            {"type": "olm.package", "value": '{"packageName":"cup","version":">1"}'},
        ],
        "properties": [
            {"type": "olm.package", "value": '{"packageName":"tea","version":"1.2.0"}'},
            {"type": "olm.gvk", "value": '{"group":"tea.io","version":"v1","kind":"Pot"}'},
            {"type": "olm.gvk.required", "value": '{"group":"cup.io","version":"v1","kind":"Cup"}'},
            {"type": "olm.package.required", "value": '{"packageName":"cup","versionRange":">1"}'},
            {"type": "olm.label", "value": '"x"'},
        ],
    }


def test_fbc_md_15_3_only_a_list_tells_edges() -> None:
    listed = bundle_message(TEA, "stable", TEA.bundles["tea.v1.2.0"], Content(), entry=STABLE.entries[2])
    assert (listed["replaces"], listed["skips"]) == ("tea.v1.0.0", ["tea.v1.1.0"])
    old = bundle_message(TEA, "nowhere", TEA.bundles["tea.v1.0.0"], Content())
    assert old["skipRange"] == ""
    assert old["deprecation"] == {"message": "too old"}
    assert "replaces" not in old


METADATA = {"annotations": {"a": "b"}, "displayName": "Tea", "description": "hot", "provider": {"name": "acme"}}


def a_document(*properties: tuple[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "tea.v1.2.0", "properties": [{"type": one, "value": value} for one, value in properties], **more}


def test_fbc_md_15_5_a_csv_made_of_metadata() -> None:
    content = content_of(a_document(("olm.csv.metadata", METADATA)), "1.2.0", {})
    assert content.csv == (
        '{"kind":"ClusterServiceVersion","apiVersion":"operators.coreos.com/v1alpha1","metadata":{"name":"tea.v1.2.0",'
        '"annotations":{"a":"b"}},"spec":{"install":{"strategy":"deployment","spec":{"deployments":null}},'
        '"version":"1.2.0","customresourcedefinitions":{},"apiservicedefinitions":{},"displayName":"Tea",'
        '"description":"hot","provider":{"name":"acme"},"cleanup":{"enabled":false}},"status":{"cleanup":{}}}'
    )
    assert content.objects == (content.csv,)


def test_fbc_md_15_5_what_metadata_lacks_comes_from_the_package() -> None:
    package = {"description": "of tea", "icon": {"base64data": "AA==", "mediatype": "image/png"}}
    images = [{"name": "", "image": "quay.io/tea"}]
    document = a_document(("olm.csv.metadata", {"displayName": "Tea"}), relatedImages=images)
    spec = json.loads(content_of(document, "1.2.0", package).csv)["spec"]
    assert spec["description"] == "of tea"
    assert spec["icon"] == [{"base64data": "AA==", "mediatype": "image/png"}]
    assert spec["relatedImages"] == images


def an_object(text: str) -> tuple[str, Any]:
    return "olm.bundle.object", {"data": base64.b64encode(text.encode()).decode()}


def test_fbc_md_r358_embedded_objects_come_as_they_are_and_yaml_as_json() -> None:
    csv = '{ "kind": "ClusterServiceVersion" }'
    content = content_of(a_document(an_object("kind: Service"), an_object(csv)), "1.2.0", {})
    assert content == Content(csv, ('{"kind":"Service"}', csv))


def test_objects_without_a_csv() -> None:
    assert content_of(a_document(an_object("{ broken")), "1.2.0", {}) == Content("", ("{ broken",))


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(a_document(), id="fbc.md R359: neither objects nor metadata"),
        pytest.param(a_document(("olm.csv.metadata", "x")), id="metadata that are none"),
        pytest.param({"name": "x", "properties": None}, id="no properties"),
    ],
)
def test_a_bundle_without_content(document: dict[str, Any]) -> None:
    assert content_of(document, "1.2.0", {}) == Content()


def test_an_object_may_be_a_list_of_bytes_in_an_odd_spelling() -> None:
    assert content_of(a_document(("olm.bundle.object", {"Data": [*b"{}"]})), "1.0.0", {}).objects == ("{}",)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        pytest.param(
            a_document(("olm.csv.metadata", METADATA), ("olm.csv.metadata", METADATA)),
            'expected at most 1 property of type "olm.csv.metadata", found 2',
            id="fbc.md R379: two metadata",
        ),
        pytest.param(a_document(("olm.csv.metadata", {"keywords": 1})), "cannot be read", id="metadata of wrong types"),
        pytest.param(
            a_document(an_object("a: [")), "an olm.bundle.object cannot be read", id="an object that is no YAML"
        ),
        pytest.param(a_document(("olm.bundle.object", {"data": 1})), "cannot be read", id="an object that is no text"),
        pytest.param(a_document(("olm.bundle.object", {"data": "e30"})), "cannot be read", id="base64 that is cut off"),
        pytest.param(a_document(("olm.bundle.object", {"data": "e/8="})), "cannot be read", id="JSON that is no UTF-8"),
    ],
)
def test_what_cannot_be_served_states_why(document: dict[str, Any], words: str) -> None:
    with pytest.raises(NotServable, match=words):
        content_of(document, "1.2.0", {})
