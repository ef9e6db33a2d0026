"""Rules about documents that refer to each other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.fbc import (
    a_bundle,
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

PARSE = 'parse properties for bundle "foo.v0.1.0": '
NUMBER = "json: cannot unmarshal number into Go struct field Package.version of type string"
PULL_SPEC = 'package "foo" bundle "foo.v0.1.0" image: invalid image pull spec'
SOUND = (a_package(), a_channel(), a_bundle())
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


def test_a_sound_catalog_is_valid() -> None:
    assert judged(*SOUND).is_valid
    assert judged().is_valid


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        pytest.param([a_package("")], "config contains package with no name", id="fbc.md R070: no name"),
        pytest.param([a_package(), *SOUND], 'duplicate package "foo"', id="fbc.md R071: twice"),
        pytest.param(
            [a_package("foo.bar")], 'invalid package name "foo.bar": [must not contain dots]', id="fbc.md R072: a dot"
        ),
        pytest.param([a_package("Foo")], f'invalid package name "Foo": [{LABEL}]', id="fbc.md R073: upper case"),
        pytest.param(
            [a_package("a" * 64)],
            f'invalid package name "{"a" * 64}": [must be no more than 63 characters]',
            id="fbc.md R074: 64 characters",
        ),
    ],
)
def test_packages(documents: list[Any], message: str) -> None:
    assert messages(*documents)[0] == message


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        pytest.param(
            [a_package(), without(a_channel(), "package")],
            'unknown package "" for channel "alpha"',
            id="fbc.md R075: no package",
        ),
        pytest.param(
            [a_package(), a_channel(package="non-existent")],
            'unknown package "non-existent" for channel "alpha"',
            id="fbc.md R076: an unknown package",
        ),
        pytest.param([a_package(), a_channel("")], 'package "foo" contains channel with no name', id="fbc.md R077"),
        pytest.param([*SOUND, a_channel()], 'package "foo" has duplicate channel "alpha"', id="fbc.md R078: twice"),
        pytest.param(
            [a_package(), a_channel("alpha", an_entry("foo.v0.1.0"), an_entry("foo.v0.1.0")), a_bundle()],
            'invalid package "foo", channel "alpha": duplicate entry "foo.v0.1.0"',
            id="fbc.md R079: an entry twice",
        ),
        pytest.param(
            [a_package(), a_channel()],
            'no olm.bundle blobs found in package "foo" for olm.channel entries [foo.v0.1.0]',
            id="fbc.md R101: an entry without a bundle",
        ),
        pytest.param(
            [a_package(), a_channel("alpha", an_entry("x")), a_channel("beta"), a_bundle()],
            'no olm.bundle blobs found in package "foo" for olm.channel entries [x]',
            id="fbc.md R102: an entry without a bundle in the first of two channels",
        ),
    ],
)
def test_channels(documents: list[Any], message: str) -> None:
    assert messages(*documents)[0] == message


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        pytest.param(
            [a_package(), a_channel(), without(a_bundle(), "package")],
            'package name must be set for bundle "foo.v0.1.0"',
            id="fbc.md R081: no package",
        ),
        pytest.param(
            [*SOUND, a_bundle("bar.v0.1.0", package="bar")],
            'unknown package "bar" for bundle "bar.v0.1.0"',
            id="fbc.md R082: an unknown package",
        ),
        pytest.param(
            [a_package(), a_bundle()],
            'package "foo", bundle "foo.v0.1.0" not found in any channel entries',
            id="fbc.md R083: no channel at all",
        ),
        pytest.param(
            [*SOUND, a_bundle("foo.v2", "2.0.0")],
            'package "foo", bundle "foo.v2" not found in any channel entries',
            id="fbc.md R083: in no channel",
        ),
        pytest.param([*SOUND, a_bundle()], 'package "foo" has duplicate bundle "foo.v0.1.0"', id="fbc.md R103: twice"),
    ],
)
def test_bundles(documents: list[Any], message: str) -> None:
    assert messages(*documents)[0] == message


@pytest.mark.parametrize(
    ("bundle", "message"),
    [
        pytest.param(
            a_bundle("foo.v0.1.0", "0.1.0", {"type": "olm.foo"}),
            f'{PARSE}parse property[1] of type "olm.foo": unexpected end of JSON input',
            id="fbc.md R086: a property without a value",
        ),
        pytest.param(
            a_bundle(properties=[]),
            'package "foo" bundle "foo.v0.1.0" must have exactly 1 "olm.package" property, found 0',
            id="fbc.md R087: no identity",
        ),
        pytest.param(
            a_bundle("foo.v0.1.0", "0.1.0", a_property("olm.package", packageName="foo", version="0.1.0")),
            'package "foo" bundle "foo.v0.1.0" must have exactly 1 "olm.package" property, found 2',
            id="fbc.md R088: two identities, even equal ones",
        ),
        pytest.param(
            a_bundle(properties=[a_property("olm.package", packageName="foooperator", version="0.1.0")]),
            'package "foo" does not match "olm.package" property "foooperator"',
            id="fbc.md R089: an identity of another package",
        ),
        pytest.param(
            a_bundle(version="0.1.0.1"),
            'error parsing bundle "foo.v0.1.0" version "0.1.0.1": Invalid character(s) found in patch number "0.1"',
            id="fbc.md R090: a version of four parts",
        ),
        pytest.param(
            a_bundle("foo.v", ""),
            'error parsing bundle "foo.v" version "": Version string empty',
            id="fbc.md R091: an empty version",
        ),
        pytest.param(
            a_bundle(release="!!!"),
            'error parsing bundle "foo.v0.1.0" release version "!!!": invalid release "!!!": segment 0: '
            'Invalid character(s) found in prerelease "!!!"',
            id="fbc.md R092: a release that is none",
        ),
        pytest.param(
            a_bundle(image=f"quay.io/a@ssha256:{'a' * 64}"),
            f'package "foo" bundle "foo.v0.1.0" image: invalid image pull spec "quay.io/a@ssha256:{"a" * 64}": '
            "unsupported digest algorithm",
            id="fbc.md R106: an unknown digest",
        ),
        pytest.param(
            a_bundle(image=f"quay.io/a@md5:{'a' * 32}"),
            f'package "foo" bundle "foo.v0.1.0" image: invalid image pull spec "quay.io/a@md5:{"a" * 32}": '
            "unsupported digest algorithm",
            id="fbc.md R107: a digest that is not supported",
        ),
        pytest.param(
            a_bundle(relatedImages=[{"image": ""}, {"image": "::"}]),
            'package "foo" bundle "foo.v0.1.0" relatedImages[1].image: invalid image pull spec "::": '
            "invalid reference format",
            id="fbc.md R108: a related image",
        ),
        pytest.param(
            a_bundle(image="quay.io/A/b:c"),
            f'{PULL_SPEC} "quay.io/A/b:c": invalid reference format: repository name must be lowercase',
            id="fbc.md R111: upper case",
        ),
    ],
)
def test_what_is_wrong_with_a_bundle_alone(bundle: dict[str, Any], message: str) -> None:
    documents = a_package(), a_channel("alpha", an_entry(bundle["name"])), bundle
    assert messages(*documents)[0] == message


def test_fbc_md_r043_a_version_that_is_a_number() -> None:
    bundle = a_bundle(properties=[{"type": "olm.package", "value": {"packageName": "foo", "version": 1.0}}])
    assert messages(a_package(), a_channel(), bundle) == [f'{PARSE}parse property[0] of type "olm.package": {NUMBER}']


def test_the_first_finding_is_the_one_of_opm_and_the_others_follow() -> None:
    found = messages(a_package("Foo"), a_package(""), a_channel(), a_bundle(version="x"), a_deprecation())
    assert found == [
        f'invalid package name "Foo": [{LABEL}]',
        "config contains package with no name",
        'unknown package "foo" for channel "alpha"',
        'unknown package "foo" for bundle "foo.v0.1.0"',
        'error parsing bundle "foo.v0.1.0" version "x": No Major.Minor.Patch elements found',
        'cannot apply deprecations to an unknown package "foo"',
    ]


@pytest.mark.parametrize(
    "documents",
    [
        pytest.param([a_package(), a_channel(), a_channel("beta"), a_bundle()], id="fbc.md R080: in two channels"),
        pytest.param(
            [a_package(), a_channel(), a_bundle("foo.v0.1.0", "0.1.0", {"type": "olm.foo", "value": None})],
            id="fbc.md R085: a property of null",
        ),
        pytest.param(
            [
                a_package(),
                a_channel("alpha", an_entry("foo-v0.1.0-alpha.1.0.0")),
                a_bundle("foo-v0.1.0-alpha.1.0.0", release="alpha.1.0.0"),
            ],
            id="fbc.md R093: a release, and the name that it asks for",
        ),
        pytest.param([a_package(), a_channel(), a_bundle(relatedImages=[None, {"name": "x"}])], id="fbc.md R109"),
        pytest.param([a_package(), a_channel(), a_bundle(image="busybox")], id="fbc.md R110: a short image"),
        pytest.param(
            [
                a_package(),
                a_channel(),
                a_bundle(
                    "foo.v0.1.0",
                    "0.1.0",
                    {"value": 1},
                    a_property("olm.package.required", packageName="", versionRange="~bad"),
                ),
            ],
            id="fbc.md R112: no type, and a range that is none",
        ),
        pytest.param(
            [a_package(), a_channel(), a_bundle(image=f"repo:tag@sha256:{'0' * 64}")], id="fbc.md R113: tag and digest"
        ),
        pytest.param(
            [a_package(properties=[a_property("x")]), a_channel(properties=[a_property("x")]), a_bundle()],
            id="fbc.md R114: properties of a package and of a channel",
        ),
        pytest.param(
            [a_package(icon={"base64data": "aGk=", "mediatype": "x"}), a_channel(), a_bundle()],
            id="fbc.md R123: an icon that is no picture",
        ),
        pytest.param(
            [a_package(), a_channel(), a_bundle("foo.v0.1.0", "0.1.0", a_property("olm.constraint", all=3))],
            id="fbc.md R186: a constraint is not looked at",
        ),
        pytest.param([*SOUND, {"schema": "olm.Package", "name": "X.Y"}], id="fbc.md R048: another schema"),
    ],
)
def test_what_is_allowed(documents: list[Any]) -> None:
    assert messages(*documents) == []


@pytest.mark.parametrize(
    ("deprecations", "message"),
    [
        pytest.param(
            [a_deprecation(package="")], "package name must be set for deprecation item 0", id="fbc.md R126: no package"
        ),
        pytest.param(
            [a_deprecation(package="nyarl")],
            'cannot apply deprecations to an unknown package "nyarl"',
            id="fbc.md R127: an unknown package",
        ),
        pytest.param(
            [a_deprecation(), a_deprecation()],
            'expected a maximum of one deprecation per package: "foo"',
            id="fbc.md R128: two for one package",
        ),
        pytest.param(
            [a_deprecation(a_notice("olm.bundle", "foo.v2.0.0"))],
            'cannot deprecate bundle "foo.v2.0.0" for package "foo": bundle not found',
            id="fbc.md R129: a missing bundle",
        ),
        pytest.param(
            [a_deprecation(a_notice("olm.channel", "x"))],
            'cannot deprecate channel "x" for package "foo": channel not found',
            id="fbc.md R130: a missing channel",
        ),
        pytest.param(
            [a_deprecation(a_notice("badschema", "foo.v2.0.0"))],
            'cannot deprecate object declcfg.PackageScopedReference{Schema:"badschema", Name:"foo.v2.0.0"} '
            'referenced by entry 0 for package "foo": object schema unknown',
            id="fbc.md R131: an unknown schema",
        ),
        pytest.param(
            [a_deprecation(a_notice("olm.bundle", "foo.v0.1.0"), a_notice("olm.bundle", "foo.v0.1.0"))],
            'duplicate deprecation entry declcfg.PackageScopedReference{Schema:"olm.bundle", Name:"foo.v0.1.0"} for '
            'package "foo"',
            id="fbc.md R132: a reference twice",
        ),
        pytest.param(
            [a_deprecation({"message": "x"})],
            'schema must be set for deprecation entry [0] for package "foo"',
            id="fbc.md R133: no schema",
        ),
        pytest.param(
            [a_deprecation(a_notice("olm.package", "foo"))],
            'package name must be empty for deprecated package "foo" (specified "foo")',
            id="fbc.md R134: a package by name",
        ),
    ],
)
def test_deprecations(deprecations: list[Any], message: str) -> None:
    assert messages(*SOUND, *deprecations)[0] == message


@pytest.mark.parametrize(
    "deprecation",
    [
        pytest.param(
            a_deprecation(a_notice(), a_notice("olm.channel", "alpha"), a_notice("olm.bundle", "foo.v0.1.0")),
            id="fbc.md R136: package, channel and bundle",
        ),
        pytest.param(a_deprecation(), id="fbc.md R137: nothing"),
    ],
)
def test_deprecations_that_are_allowed(deprecation: dict[str, Any]) -> None:
    assert messages(*SOUND, deprecation) == []
