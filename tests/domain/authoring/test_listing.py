from __future__ import annotations

import pytest

from shared.domain.authoring import listing
from tests.domain.authoring.catalogs import a_bundle, a_catalog, a_channel, a_csv, a_package, an_embedded, written

CATALOG = a_catalog(
    a_package("foo", "beta"),
    a_package("bar", "absent"),
    a_channel({"name": "foo.v0.1.0"}, name="stable", package="foo"),
    a_channel(
        {"name": "foo.v0.2.0", "replaces": "foo.v0.1.0", "skips": ["foo.v0.1.1", "foo.v0.1.2"], "skipRange": "<0.2.0"},
        {"name": "foo.v0.1.0"}, name="beta", package="foo",
    ),
    a_channel({"name": "bar.v1"}, name="only", package="bar"),
    a_bundle("foo.v0.1.0", "0.1.0", "foo"),
    a_bundle("foo.v0.2.0", "0.2.0", "foo", properties=[an_embedded(a_csv(displayName="Foo"))]),
    a_bundle("bar.v1", "1.0.0", "bar"),
)  # fmt: skip


def test_r332_packages_are_listed_by_name_with_their_name_for_people() -> None:
    assert listing.packages(CATALOG) == [
        {"name": "bar", "displayName": "", "defaultChannel": "absent"},
        {"name": "foo", "displayName": "Foo", "defaultChannel": "beta"},
    ]


def test_fbc_13_5_a_described_head_has_a_name_for_people() -> None:
    assert listing.packages(written("tea.yaml"))[1]["displayName"] == "Tea & <more>"


def test_r333_channels_are_listed_with_their_heads() -> None:
    assert listing.channels(CATALOG) == [
        {"package": "bar", "channel": "only", "head": "bar.v1"},
        {"package": "foo", "channel": "beta", "head": "foo.v0.2.0"},
        {"package": "foo", "channel": "stable", "head": "foo.v0.1.0"},
    ]
    assert [row["channel"] for row in listing.channels(CATALOG, "foo")] == ["beta", "stable"]


def test_r334_bundles_are_listed_once_for_each_channel() -> None:
    rows = listing.bundles(CATALOG, "foo")
    assert [(row["channel"], row["bundle"]) for row in rows] == [
        ("beta", "foo.v0.1.0"), ("beta", "foo.v0.2.0"), ("stable", "foo.v0.1.0"),
    ]  # fmt: skip
    assert rows[1] == {
        "package": "foo", "channel": "beta", "bundle": "foo.v0.2.0", "replaces": "foo.v0.1.0",
        "skips": ["foo.v0.1.1", "foo.v0.1.2"], "skipRange": "<0.2.0", "image": "quay.io/acme/foo.v0.2.0:0.2.0",
    }  # fmt: skip


def test_r335_an_unknown_package_is_not_found() -> None:
    with pytest.raises(listing.UnknownPackage, match='package "unknown" not found'):
        listing.bundles(CATALOG, "unknown")
