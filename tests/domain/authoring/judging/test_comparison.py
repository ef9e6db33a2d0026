from __future__ import annotations

import pytest

from shared.domain.authoring.judging.comparison import Catalog, compare
from shared.domain.authoring.judging.conversion import convert
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

V1, V2, V3 = an_entry("v1"), an_entry("v2", "v1"), an_entry("v3", "v2")
BUNDLES = [a_bundle("v1", "1.0.0"), a_bundle("v2", "2.0.0"), a_bundle("v3", "3.0.0")]
OLD = [a_package(), a_channel("alpha", V1, V2), *BUNDLES[:2]]


def a_catalog(*documents: Json) -> Catalog:
    reading = Reading(statements={})
    reading.add_file("catalog.json", written(*documents))
    found, findings = convert(reading.blobs)
    assert findings == []
    return Catalog(found, reading.statements or {})


@pytest.mark.parametrize(
    ("newer", "changes"),
    [
        pytest.param(OLD, [], id="the same"),
        pytest.param([], [("lost", "the package is gone")], id="a package is gone"),
        pytest.param(
            [a_package(), a_channel("alpha", V1, V2, V3), *BUNDLES],
            [("gained", "bundle v3 is new"), ("changed", "the head of channel alpha is v3, it was v2")],
            id="a new version",
        ),
        pytest.param(
            [a_package(), a_channel("alpha", V2, V3), *BUNDLES[1:]],
            [
                ("lost", "bundle v1 is gone"),
                ("gained", "bundle v3 is new"),
                ("changed", "the head of channel alpha is v3, it was v2"),
            ],
            id="a version is gone, and those who have it are still updated",
        ),
        pytest.param(
            [a_package(), a_channel("alpha", an_entry("v3", "v2")), *BUNDLES[2:]],
            [
                ("lost", "bundle v1 is gone"),
                ("lost", "bundle v2 is gone"),
                ("gained", "bundle v3 is new"),
                ("changed", "the head of channel alpha is v3, it was v2"),
                ("stuck", "in channel alpha, v1, which is no longer in it, is not updated to v3"),
            ],
            id="whoever has v1 is stuck",
        ),
        pytest.param(
            [a_package(), a_channel("alpha", V1, an_entry("v2", "", ("v1",))), *BUNDLES[:2]], [], id="skips lead on"
        ),
        pytest.param(
            [a_package(), a_channel("alpha", an_entry("v2", "", (), "<2.0.0")), BUNDLES[1]],
            [("lost", "bundle v1 is gone")],
            id="a range of versions leads on",
        ),
        pytest.param(
            [
                a_package(),
                a_channel(
                    "alpha", V1, an_entry("v3", "v2"), an_entry("v2", "", (), "<0.5.0"), an_entry("x", "v3", ("v1",))
                ),
                *BUNDLES,
                a_bundle("x", "4.0.0"),
            ],
            [
                ("gained", "bundle v3 is new"),
                ("gained", "bundle x is new"),
                ("changed", "the head of channel alpha is x, it was v2"),
            ],
            id="another way",
        ),
        pytest.param(
            [a_package(defaultChannel="beta"), a_channel("beta", V1, V2), *BUNDLES[:2]],
            [
                ("changed", "the default channel is beta, it was alpha: subscriptions that name none move"),
                ("lost", "channel alpha is gone"),
                ("gained", "channel beta is new"),
            ],
            id="another channel",
        ),
        pytest.param(
            [*OLD[:3], a_bundle("v2", "2.0.1"), a_deprecation(a_notice(), a_notice("olm.bundle", "v1", "old\n"))],
            [
                ("changed", "bundle v2 has version 2.0.1, it had 2.0.0"),
                ("changed", "bundle v1 is deprecated: old"),
                ("changed", "the package is deprecated: old"),
            ],
            id="another version, and deprecations",
        ),
    ],
)
def test_what_changes(newer: list[Json], changes: list[tuple[str, str]]) -> None:
    assert [(one.kind, one.message) for one in compare(a_catalog(*OLD), a_catalog(*newer))] == changes


def test_what_was_deprecated_may_be_welcome_again() -> None:
    older = a_catalog(*OLD, a_deprecation(a_notice("olm.channel", "alpha")))
    assert [one.message for one in compare(older, a_catalog(*OLD))] == ["channel alpha is no longer deprecated"]


def test_a_new_package_and_a_channel_that_nobody_defined() -> None:
    newer = a_catalog(*OLD, a_package("bar", defaultChannel="x"))
    assert [(one.package, one.kind) for one in compare(a_catalog(*OLD), newer)] == [("bar", "gained")]
    assert compare(newer, newer) == ()


PINNED = "quay.io/foo/foo@sha256:" + "1" * 64
NEEDS = a_property("olm.package.required", packageName="bar", versionRange=">=1.0.0")
ONE, OTHER = (a_property("olm.csv.metadata", description=letter * 300) for letter in "ab")
RELATED = [{"name": "", "image": PINNED}, {"name": "a", "image": "quay.io/a"}, {"name": "b", "image": "quay.io/b"}]


@pytest.mark.parametrize(
    ("older", "newer", "messages"),
    [
        pytest.param(
            a_bundle(image=PINNED),
            a_bundle(image="quay.io/foo/foo:latest"),
            [f"has the image quay.io/foo/foo:latest, a tag, which can be moved; it had {PINNED}"],
            id="a digest that became a tag",
        ),
        pytest.param(
            a_bundle(image="quay.io/foo/foo:latest"),
            a_bundle(image=PINNED),
            [f"has the image {PINNED}; it had quay.io/foo/foo:latest"],
            id="a tag that became a digest",
        ),
        pytest.param(
            a_bundle(),
            a_bundle("foo.v0.1.0", "0.1.0", NEEDS),
            ['now states olm.package.required {"packageName":"bar","versionRange":">=1.0.0"}'],
            id="a new dependency",
        ),
        pytest.param(
            a_bundle("foo.v0.1.0", "0.1.0", NEEDS),
            a_bundle(),
            ['no longer states olm.package.required {"packageName":"bar","versionRange":">=1.0.0"}'],
            id="a dependency that is gone",
        ),
        pytest.param(
            a_bundle("foo.v0.1.0", "0.1.0", ONE),
            a_bundle("foo.v0.1.0", "0.1.0", OTHER),
            ["states another olm.csv.metadata"],
            id="a value that is too long to be shown",
        ),
        pytest.param(
            a_bundle(image=PINNED, relatedImages=RELATED[:2]),
            a_bundle(image=PINNED, relatedImages=RELATED[1:]),
            ["now relates the image quay.io/b"],
            id="a related image, and the bundle itself, which is none",
        ),
        pytest.param(
            a_bundle(relatedImages=RELATED[1:]),
            a_bundle(),
            ["no longer relates the images quay.io/a, quay.io/b"],
            id="related images that are gone",
        ),
    ],
)
def test_what_a_bundle_of_the_same_name_states_now(older: Json, newer: Json, messages: list[str]) -> None:
    before, after = (a_catalog(a_package(), a_channel(), one) for one in (older, newer))
    assert [(one.kind, one.message) for one in compare(before, after)] == [
        ("changed", f"bundle foo.v0.1.0 {message}") for message in messages
    ]
