from __future__ import annotations

from typing import Any

import pytest

from shared.domain.authoring.judging.judge import Reading
from tests.kit.fbc import (
    Json,
    a_bundle,
    a_channel,
    a_deprecation,
    a_notice,
    a_package,
    a_property,
    an_entry,
    written,
)

PINNED = f"quay.io/foo@sha256:{'0' * 64}"


def advised(*documents: Json) -> dict[str, str]:
    """The last sentence of each rule."""
    reading = Reading(advice=[])
    reading.add_file("f", written(*documents))
    return {one.rule: one.message for one in reading.all_advice()}


def test_a_good_catalog_needs_no_advice() -> None:
    icon = {"base64data": "iVBORw==", "mediatype": "image/png"}
    gvk = a_property("olm.gvk", group="g", kind="k", version="v")
    needs = a_property("olm.package.required", packageName="x", versionRange=">=1.0.0")
    bundle = a_bundle("foo.v0.1.0", "0.1.0", gvk, needs, image=PINNED, relatedImages=[{"image": PINNED}])
    assert advised(a_package(icon=icon), a_channel(), bundle, {"schema": "com.x", "package": "foo"}) == {}


def test_an_icon_may_be_a_list_of_bytes_in_an_odd_spelling() -> None:
    icon = {"base64Data": [*b"GIF89a"], "mediaType": "image/gif"}
    assert advised(a_package(icon=icon)).keys() == {"odd-spelling"}


@pytest.mark.parametrize(
    ("document", "rule", "words"),
    [
        pytest.param(
            a_package(replace="x"), "unknown-field", "the field replace is not known and is dropped", id="21.1"
        ),
        pytest.param(
            a_channel() | {"entries": [{"name": "a", "replace": "b"}]}, "unknown-field", "entries.replace", id="deep"
        ),
        pytest.param(
            {"schema": "olm.package", "name": "foo", "defaultchannel": "x"},
            "odd-spelling",
            "usually spelled defaultChannel",
            id="another case",
        ),
        pytest.param(a_bundle(image="foo:1"), "unpinned-image", "foo:1 is named by a tag", id="an image by tag"),
        pytest.param(
            a_bundle(image="", relatedImages=[{"image": "foo:1"}, {"image": PINNED}]),
            "unpinned-image",
            "1 related images are named by tags, e.g. foo:1",
            id="related images by tag",
        ),
        pytest.param(
            a_bundle(relatedImages=[{"name": "x"}]), "empty-related-image", "has no image", id="fbc.md 2.5: no image"
        ),
        pytest.param(
            a_package(icon={"mediatype": "text/x"}), "icon", "is none of", id="fbc.md 2.5: an unknown picture"
        ),
        pytest.param(
            a_package(icon={"mediatype": "image/png", "base64data": "aGk="}), "icon", "is no image/png", id="no picture"
        ),
        pytest.param(
            a_package(icon={"mediatype": "image/png", "base64data": [1]}),
            "icon",
            "is no image/png",
            id="bytes as numbers",
        ),
        pytest.param(
            a_bundle("a", "1.0.0", {"type": "x", "value": None}),
            "empty-property",
            "property[1] has no value",
            id="R085",
        ),
        pytest.param(a_bundle("a", "1.0.0", {"value": 1}), "empty-property", "property[1] has no type", id="R112"),
        pytest.param(
            a_bundle("a", "1.0.0", a_property("olm.gvk", group="g", kind="k")), "empty-property", "version is empty"
        ),
        pytest.param(
            a_bundle("a", "1.0.0", a_property("olm.package.required", versionRange=">=1.0.0")),
            "empty-property",
            "packageName is empty",
            id="fbc.md 2.5: a requirement without a package",
        ),
        pytest.param(
            a_bundle("a", "1.0.0", a_property("olm.package.required", packageName="x", versionRange="~1")),
            "version-range",
            "the range '~1' cannot be read",
            id="fbc.md 4.7: a range that is none",
        ),
        pytest.param(
            a_bundle("a", "1.0.0", a_property("olm.bundle.object", ref="x")),
            "object-without-data",
            "has no data",
            id="R057",
        ),
        pytest.param(
            a_bundle("a", "1.0.0", a_property("olm.bundle.object", data="e30=")),
            "embedded-objects",
            "migrate",
            id="objects",
        ),
        pytest.param(
            a_bundle("a", "1.0.0", a_property("olm.csv.metadata"), a_property("olm.csv.metadata")),
            "cannot-be-served",
            "more than one olm.csv.metadata",
            id="fbc.md 21.1: two descriptions",
        ),
        pytest.param({"schema": "a b"}, "cannot-be-served", "the schema 'a b' must match", id="fbc.md 16.2: a schema"),
        pytest.param(
            {"schema": "a", "package": "../x"}, "cannot-be-served", "the package '../x'", id="fbc.md R191: a package"
        ),
        pytest.param(a_package(description="x" * 2**20), "size-hog", "takes 1.0 MiB", id="a large document"),
        pytest.param(
            a_package(description="x" * 5 * 2**20), "size-hog", "refuse more than 4 MiB", id="too large to serve"
        ),
    ],
)
def test_advice_about_a_document(document: Json, rule: str, words: str) -> None:
    assert words in advised(document)[rule]


def test_what_cannot_be_read_is_for_validation() -> None:
    wrong = a_bundle("a", "1.0.0", {"type": "olm.gvk", "value": 3}, image=PINNED)
    assert advised(a_package(icon=3), wrong) == {}


CHAIN = [an_entry("a"), an_entry("b", "a")]


def two(older: str, newer: str, *entries: Json, **fields: Any) -> list[Json]:
    bundles = [a_bundle("a", older, image=PINNED), a_bundle("b", newer, image=PINNED)]
    return [a_package(**fields), a_channel("alpha", *entries), *bundles]


@pytest.mark.parametrize(
    ("documents", "rule", "words"),
    [
        pytest.param(
            [*two("1.0.0", "1.1.0", *CHAIN), a_deprecation(a_notice("olm.channel", "alpha"))],
            "deprecated-default",
            "its default channel is deprecated",
            id="a deprecated default channel",
        ),
        pytest.param(
            [*two("1.0.0", "1.1.0", *CHAIN), a_deprecation(a_notice())],
            "deprecated-default",
            "its package is deprecated",
            id="a deprecated package",
        ),
        pytest.param(
            [*two("1.0.0", "1.1.0", an_entry("b")), a_channel("beta", an_entry("a"))],
            "unreachable-head",
            "the head b follows nothing: none of 1 older versions leads to it",
            id="a head nobody can reach",
        ),
        pytest.param(two("1.0.0", "2.0.0", *CHAIN), "jump", "from a (1.0.0) to b (2.0.0)", id="over a major version"),
        pytest.param(two("1.0.0", "1.2.0", *CHAIN), "jump", "from a (1.0.0) to b (1.2.0)", id="over a minor version"),
        pytest.param(
            two("1.0.0", "1.1.0", an_entry("a"), an_entry("b", "a", (), "1.0.0 - 1.1.0")),
            "version-range",
            "'-' means nothing there",
            id="fbc.md 5.4: a token that is dropped",
        ),
    ],
)
def test_advice_about_packages(documents: list[Json], rule: str, words: str) -> None:
    assert words in advised(*documents)[rule]


@pytest.mark.parametrize(
    "documents",
    [
        pytest.param(two("1.0.0", "1.1.0", *CHAIN), id="one minor version"),
        pytest.param(two("x", "y", *CHAIN), id="versions that are none"),
        pytest.param(two("1.0.0", "1.1.0", *CHAIN, defaultChannel="beta"), id="a default channel that nobody defined"),
        pytest.param(two("1.0.0", "1.1.0", an_entry("a"), an_entry("b", "", ("a",), "< 1.1.0")), id="skips lead on"),
    ],
)
def test_packages_that_need_no_advice(documents: list[Json]) -> None:
    assert advised(*documents) == {}
