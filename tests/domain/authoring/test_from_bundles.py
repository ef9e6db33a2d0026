from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.authoring.from_bundles import Published, from_bundles, offer
from shared.domain.bundle.annotations import Annotations
from shared.domain.bundle.model import ParsedBundle
from shared.domain.catalog.documents import Document
from shared.domain.catalog.model import Entry, Package
from tests.kit.fbc import packages_of


def a_bundle(version: str, *, channels: Sequence[str] = ("stable",), default: str = "", **spec: Any) -> Published:
    range_ = spec.pop("skip_range", None)
    csv = {
        "kind": "ClusterServiceVersion",
        "metadata": {"name": f"tea.v{version}", "annotations": {"olm.skipRange": range_} if range_ else {}},
        "spec": {"version": version, **spec},
    }
    bundle = ParsedBundle(csv, (csv,), Annotations("tea", tuple(channels), default))
    return Published(offer(bundle), f"host/bundles/tea:{version}")


def tea(*published: Published) -> Package:
    documents, findings = from_bundles(published)
    assert findings == ()
    (package,) = packages_of(
        Document("here", one["schema"], one.get("package", ""), one["name"], one) for one in documents
    )
    assert isinstance(package, Package)
    return package


def test_issue_3_1_4_edges_come_from_replaces_skips_and_skip_range() -> None:
    (channel,) = tea(
        a_bundle("0.3.0", replaces="tea.v0.1.0", skips=["tea.v0.2.0"], skip_range=">=0.1.0 <0.3.0"),
        a_bundle("0.1.0"),
        a_bundle("0.2.0", replaces="tea.v0.1.0"),
    ).channels
    assert channel.entries == (
        Entry("tea.v0.1.0"),
        Entry("tea.v0.2.0", "tea.v0.1.0"),
        Entry("tea.v0.3.0", "tea.v0.1.0", ("tea.v0.2.0",), ">=0.1.0 <0.3.0"),
    )


def test_issue_3_1_4_edges_to_absent_bundles_are_dropped() -> None:
    (channel,) = tea(a_bundle("2.0.0", replaces="tea.v1.0.0", skips=["tea.v1.5.0"])).channels
    assert channel.entries == (Entry("tea.v2.0.0"),)


def test_issue_3_1_4_several_heads_follow_each_other_in_semver_order() -> None:
    (channel,) = tea(a_bundle("1.10.0"), a_bundle("1.9.0"), a_bundle("1.11.0-rc1")).channels
    assert channel.entries == (
        Entry("tea.v1.9.0"),
        Entry("tea.v1.10.0", "tea.v1.9.0"),
        Entry("tea.v1.11.0-rc1", "tea.v1.10.0"),
    )


def test_a_head_that_replaces_something_skips_the_older_head() -> None:
    (channel,) = tea(a_bundle("1.0.0"), a_bundle("1.5.0"), a_bundle("2.0.0", replaces="tea.v1.0.0")).channels
    assert channel.entries == (
        Entry("tea.v1.0.0"),
        Entry("tea.v1.5.0"),
        Entry("tea.v2.0.0", "tea.v1.0.0", ("tea.v1.5.0",)),
    )


@pytest.mark.parametrize(
    ("bundles", "default"),
    [
        pytest.param([a_bundle("1.0.0", default="stable")], "stable", id="what the annotation says"),
        pytest.param(
            [a_bundle("1.0.0", channels=["a"], default="a"), a_bundle("2.0.0", channels=["a", "b"], default="b")],
            "b",
            id="the newest bundle decides",
        ),
        pytest.param(
            [a_bundle("1.0.0", channels=["z"]), a_bundle("2.0.0", channels=["a", "z"], default="gone")],
            "z",
            id="else the fullest channel of the newest bundle",
        ),
    ],
)
def test_the_default_channel(bundles: list[Published], default: str) -> None:
    assert tea(*bundles).default_channel == default


@pytest.mark.parametrize(
    ("bundle", "words"),
    [
        pytest.param(a_bundle("1.0"), "'1.0' is no semantic version: No Major.Minor.Patch", id="no version"),
        pytest.param(a_bundle("1.0.0", channels=[]), "names no channel; add the annotation", id="no channel"),
        pytest.param(a_bundle("3.0.0"), "has the same name, tea.v3.0.0", id="a twin"),
    ],
)
def test_a_bundle_that_cannot_be_offered_is_left_out_with_the_reason(bundle: Published, words: str) -> None:
    documents, findings = from_bundles([a_bundle("3.0.0"), bundle])
    assert [one["name"] for one in documents if one["schema"] == "olm.bundle"] == ["tea.v3.0.0"]
    assert words in findings[0]
    assert findings[0].startswith(f"{bundle.image}: ")


def test_a_bundle_whose_description_has_another_shape_is_offered_without() -> None:
    published = a_bundle("3.0.0", description=["no text"])
    assert not [one for one in published.offer.properties if one.type == "olm.csv.metadata"]
    assert len(tea(published).channels) == 1


def test_a_package_without_a_bundle_that_can_be_offered_is_none() -> None:
    documents, findings = from_bundles([a_bundle("1.0")])
    assert (documents, len(findings)) == ((), 1)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, unique=True), st.randoms())
def test_a_channel_has_one_head_and_it_is_the_newest_that_nothing_follows(
    versions: list[tuple[int, int]], chance: Any
) -> None:
    names = [f"{major}.{minor}.0" for major, minor in sorted(versions)]
    bundles = [
        a_bundle(name, replaces=f"tea.v{chance.choice(names[:index])}")
        if index and chance.random() < 0.5
        else a_bundle(name)
        for index, name in enumerate(names)
    ]
    (channel,) = tea(*bundles).channels
    followed = {name for entry in channel.entries for name in (entry.replaces, *entry.skips)}
    assert [entry.name for entry in channel.entries if entry.name not in followed] == [f"tea.v{names[-1]}"]
