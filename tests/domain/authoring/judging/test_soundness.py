"""The tree of errors of packages whose documents fit together."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.fbc import (
    a_bundle,
    a_chain,
    a_channel,
    a_deprecation,
    a_notice,
    a_package,
    a_property,
    an_entry,
    judged,
    messages,
    without,
)

NAMED = "foo.v0.1.0+alpha.1.0.0-0.0.1"
SOUND = (a_package(), a_channel(), a_bundle())


def tree(*documents: dict[str, Any]) -> str:
    return judged(*documents).text(with_places=False)


@pytest.mark.parametrize(
    ("documents", "lines"),
    [
        pytest.param(
            [
                a_package(),
                a_channel("alpha", an_entry("foo.v0.1.0+alpha.1.0.0-0.0.1")),
                a_bundle("foo.v0.1.0+alpha.1.0.0-0.0.1", "0.1.0+alpha.1.0.0", release="0.0.1", image="quay.io/a"),
            ],
            [
                "invalid index:",
                '└── invalid package "foo":',
                '    └── invalid channel "alpha":',
                '        └── invalid bundle "foo.v0.1.0+alpha.1.0.0-0.0.1":',
                f'            ├── name "{NAMED}" does not match normalized name "foo-v0.1.0+alpha.1.0.0-0.0.1"',
                "            └── cannot use build metadata in version with a release version",
            ],
            id="fbc.md R095: build metadata and a release",
        ),
        pytest.param(
            [
                a_package(),
                a_channel("alpha", an_entry("foo.v0.1.0-alpha.1.0.0")),
                a_bundle("foo.v0.1.0-alpha.1.0.0", release="alpha.1.0.0"),
            ],
            [
                "invalid index:",
                '└── invalid package "foo":',
                '    └── invalid channel "alpha":',
                '        └── invalid bundle "foo.v0.1.0-alpha.1.0.0":',
                '            └── name "foo.v0.1.0-alpha.1.0.0" does not match normalized name "foo-v0.1.0-alpha.1.0.0"',
            ],
            id="fbc.md R094: a name that its release does not allow",
        ),
        pytest.param(
            [a_package(defaultChannel=""), a_channel(), a_bundle()],
            ["invalid index:", '└── invalid package "foo":', "    └── default channel must be set"],
            id="fbc.md R096: no default channel",
        ),
        pytest.param(
            [a_package(), without(a_channel(), "entries")],
            [
                "invalid index:",
                '└── invalid package "foo":',
                '    └── invalid channel "alpha":',
                "        └── channel must contain at least one bundle",
            ],
            id="fbc.md R097: a default channel without entries; R041",
        ),
        pytest.param(
            [a_package(defaultChannel="bar"), a_channel(), a_bundle(), a_deprecation(a_notice("olm.channel", "bar"))],
            [
                "invalid index:",
                '└── invalid package "foo":',
                '    └── invalid channel "bar":',
                "        └── channel must contain at least one bundle",
            ],
            id="fbc.md R098, R099: a default channel that nobody defined, even a deprecated one",
        ),
        pytest.param(
            [a_package(defaultChannel=""), a_package("bar", defaultChannel=""), a_channel(), a_bundle(image="")],
            [
                "invalid index:",
                '├── invalid package "bar":',
                "│   ├── default channel must be set",
                "│   └── package must contain at least one channel",
                '└── invalid package "foo":',
                "    ├── default channel must be set",
                '    └── invalid channel "alpha":',
                '        └── invalid bundle "foo.v0.1.0":',
                "            └── bundle image must be set",
            ],
            id="fbc.md R100, R105: no channels, no image; packages in order",
        ),
    ],
)
def test_the_tree(documents: list[Any], lines: list[str]) -> None:
    assert tree(*documents) == "\n".join(lines)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        pytest.param({"skips": ["a", ""]}, "skip[1] is empty", id="fbc.md R116: an empty skip"),
        pytest.param(
            {"skipRange": ">v0.1.0"},
            'invalid skipRange ">v0.1.0": Could not parse Range ">v0.1.0": '
            'Could not parse comparator ">v" in ">v0.1.0"',
            id="fbc.md R118: a leading v",
        ),
        pytest.param(
            {"skipRange": ">1.00.1"},
            'invalid skipRange ">1.00.1": Could not parse Range ">1.00.1": Could not parse version "1.00.1" in '
            '">1.00.1": Minor number must not contain leading zeroes "00"',
            id="fbc.md R118: a leading zero",
        ),
        pytest.param(
            {"skipRange": "1.0.0 || || 2.0.0"},
            'invalid skipRange "1.0.0 || || 2.0.0": Could not parse Range "1.0.0 || || 2.0.0": '
            "an alternative between two '||' is empty",
            id="fbc.md R353: an empty alternative",
        ),
    ],
)
def test_what_is_wrong_with_an_entry(entry: dict[str, Any], message: str) -> None:
    found = judged(a_package(), a_channel("alpha", an_entry("foo.v0.1.0") | entry), a_bundle()).findings
    assert [one.message for one in found] == [message]
    assert found[0].path == (
        "invalid index", 'invalid package "foo"', 'invalid channel "alpha"', 'invalid bundle "foo.v0.1.0"',
    )  # fmt: skip


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param({"skipRange": ""}, id="fbc.md R117: an empty skipRange"),
        pytest.param({"skipRange": ">=1.0.0 <2.0.0"}, id="fbc.md R117: a skipRange"),
        pytest.param({"skips": None, "replaces": None}, id="null is nothing"),
    ],
)
def test_entries_that_are_allowed(entry: dict[str, Any]) -> None:
    assert messages(a_package(), a_channel("alpha", an_entry("foo.v0.1.0") | entry), a_bundle()) == []


def test_fbc_md_r104_objects_stand_in_for_an_image() -> None:
    objects = a_property("olm.bundle.object", data="e30=")
    assert messages(a_package(), a_channel(), a_bundle("foo.v0.1.0", "0.1.0", objects, image="")) == []


def names(*entries: str) -> list[dict[str, Any]]:
    listed = [an_entry(name, entries[index - 1] if index else "") for index, name in enumerate(entries)]
    return [a_package(), a_channel("alpha", *listed)]


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        pytest.param(
            [
                *names("anakin.v0.0.1", "anakin.v0.0.2", "anakin.v1.0.1", "anakin.v1.0.2"),
                a_bundle("anakin.v0.0.1", "0.0.1"),
                a_bundle("anakin.v0.0.2", "0.0.1"),
                a_bundle("anakin.v1.0.1", "1.0.1"),
                a_bundle("anakin.v1.0.2", "1.0.1"),
            ],
            "duplicate versions found in bundles: [{0.0.1: [anakin.v0.0.1, anakin.v0.0.2]} "
            "{1.0.1: [anakin.v1.0.1, anakin.v1.0.2]}]",
            id="fbc.md R119: two versions, twice each",
        ),
        pytest.param(
            [
                *names("a", "b", "foo-v0.0.1-100", "c"),
                a_bundle("a", "0.0.1"),
                a_bundle("b", "0.0.1"),
                a_bundle("foo-v0.0.1-100", "0.0.1", release="100"),
                a_bundle("c", "0.0.1-100"),
            ],
            "duplicate versions found in bundles: [{0.0.1: [a, b]} {0.0.1-100: [c, foo-v0.0.1-100]}]",
            id="fbc.md R120: with and without a release",
        ),
    ],
)
def test_versions_that_are_there_twice(documents: list[Any], message: str) -> None:
    assert messages(*documents) == [message]


def test_fbc_md_r121_build_metadata_makes_another_version() -> None:
    assert messages(*names("a", "b"), a_bundle("a", "1.0.0"), a_bundle("b", "1.0.0+b1")) == []


def test_fbc_md_r122_a_bundle_in_two_channels_is_one_version() -> None:
    assert messages(a_package(), a_channel(), a_channel("beta"), a_bundle()) == []


def test_fbc_md_r135_a_deprecation_needs_a_message() -> None:
    notices = [a_notice(message=""), a_notice("olm.channel", "alpha", ""), a_notice("olm.bundle", "foo.v0.1.0", "")]
    found = judged(*SOUND, a_deprecation(*notices)).findings
    assert {one.message for one in found} == {"invalid deprecation: message must be set"}
    assert [len(one.path) for one in found] == [4, 3, 2]


def test_fbc_md_r152_a_bundle_without_a_name() -> None:
    found = messages(a_package(), a_channel("alpha", an_entry("")), a_bundle(""))
    assert found == ["detected cycle in replaces chain of upgrade graph:  -> ", "name must be set"]


def test_the_graph_of_a_channel_is_judged() -> None:
    assert messages(*a_chain(an_entry("a"), an_entry("b"))) == ["multiple channel heads found in graph: a, b"]
