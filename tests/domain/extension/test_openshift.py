"""Which extensions keep an OpenShift cluster from its next minor version (v1.md §23)."""

from __future__ import annotations

import json

import pytest

from shared.domain.conditions import Condition
from shared.domain.extension.openshift import CONDITION, Published, blockers, minor_of
from shared.domain.openshift import following
from shared.domain.semver import InvalidVersion

FOUND = "Found ClusterExtensions that require upgrades prior to upgrading cluster to version"
FREE = Condition(CONDITION, "True")


def saying(value: str) -> str:
    return f'[{{"type": "other", "value": 1}}, {{"type": "olm.maxOpenShiftVersion", "value": {value}}}]'


def error(published: Published) -> str:
    found = blockers([published], "4.18.0")
    assert (found.status, found.reason) == ("False", "FailureGettingExtensionMetadata")
    return found.message


@pytest.mark.parametrize(
    ("maximum", "clusters", "is_upgradeable"),
    [
        ("4.18", ["4.17.3"], True),
        ("4.18", ["4.18.0", "4.18.0-rc1", "4.18.9", "4.18"], False),
        ("4.18", ["4.19.0"], False),
        ("4.23", ["4.22.0"], True),
        ("4.23", ["4.23.0", "5.0.0", "5.1.0"], False),
        ("5.0", ["4.23.0", "5.0.0", "5.1.0"], False),
        ("5.1", ["4.23.0", "5.0.0"], True),
        ("5.1", ["5.1.0"], False),
        ("4.10", ["4.9.0"], True),
    ],
)
def test_v1_md_23_the_maximum_and_the_cluster(maximum: str, clusters: list[str], *, is_upgradeable: bool) -> None:
    for cluster in clusters:
        for value in (maximum, f'"{maximum}"'):
            found = blockers([Published("e", "b", saying(value))], cluster)
            assert (found == FREE) is is_upgradeable


@pytest.mark.parametrize(
    ("current", "want"), [("4.22.1", "4.23"), ("4.23.1", "5.1"), ("5.0.1", "5.1"), ("5.1.1", "5.2")]
)
def test_v1_md_23_next_version_rows(current: str, want: str) -> None:
    assert following(minor_of(current)) == want


def test_v1_md_23_fields_are_spelled_in_any_case() -> None:
    """As encoding/json reads them."""
    text = '[{"Type": "olm.maxOpenShiftVersion", "VALUE": "4.18"}]'
    assert blockers([Published("e", "b", text)], "4.18.0").reason == "IncompatibleOperatorsInstalled"


def test_a_cluster_has_a_version() -> None:
    with pytest.raises(InvalidVersion):
        blockers([], "four")


@pytest.mark.parametrize("value", ["4.18", "4.19", '"4.18"', "5.0", '"5.0"', '"5.1"'])
def test_v1_md_23_values_that_are_versions(value: str) -> None:
    assert blockers([Published("e", "b", saying(value))], "4.17.0") == FREE


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("4.19e1", 'invalid semver format "4.19e1": expected <major>.<minor>'),
        ("5.00", 'invalid semver format "5.00": expected <major>.<minor>'),
        ("4", 'invalid semver format "4": expected <major>.<minor>'),
        ('"4.18.0"', "invalid version format"),
        ('"v4.18"', "invalid version format"),
        ('"v4.18.0"', "invalid version format"),
        ('"a.b"', 'Invalid character(s) found in major number "a"'),
        ("null", "invalid type <nil> for olm.maxOpenshiftVersion: null"),
        ("true", "invalid type bool for olm.maxOpenshiftVersion: true"),
        ("[1]", "invalid type []interface {} for olm.maxOpenshiftVersion: [1]"),
    ],
)
def test_v1_md_23_values_that_are_none(value: str, why: str) -> None:
    reported = f"error converting to semver for version {value}: {why}"
    where = "error(s) with cluster extension e: error in bundle b:"
    assert error(Published("e", "b", saying(value))) == f"{where} {reported}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "unexpected end of JSON input"),
        ("4.18.0", "invalid character '.' after top-level value"),
        ("{}", "json: cannot unmarshal object into Go value of type []property.Property"),
        ("[1.5]", "json: cannot unmarshal number into Go value of type property.Property"),
        ("[1]", "json: cannot unmarshal number into Go value of type property.Property"),
        (saying("[" * 2000 + "]" * 2000), "exceeded max depth"),
        ('[{"type": true}]', "json: cannot unmarshal bool into Go struct field Property.type of type string"),
    ],
)
def test_v1_md_23_texts_that_are_no_properties(text: str, why: str) -> None:
    converting = "could not convert olm.properties: failed to unmarshal properties annotation"
    want = f"error with cluster extension e: error in bundle b: {converting}: {why}"
    assert error(Published("e", "b", text)) == want


@pytest.mark.parametrize("text", [None, "null", "[]", "[null]", '[{"value": 1}]'])
def test_v1_md_23_aggregation_no_properties(text: str | None) -> None:
    assert blockers([Published("e", "b", text)], "4.18.0") == FREE


def test_v1_md_23_two_maxima_are_an_error() -> None:
    maximum = {"type": "olm.maxOpenShiftVersion", "value": "4.18"}
    why = "error(s) with cluster extension e: error in bundle b: more than one olm.maxOpenShiftVersion found in bundle"
    assert error(Published("e", "b", json.dumps([maximum, maximum]))) == why


def test_v1_md_23_a_maximum_without_value() -> None:
    converting = "error converting to semver for version : unexpected end of JSON input"
    assert error(Published("e", "b", '[{"type": "olm.maxOpenShiftVersion"}]')).endswith(converting)


def test_v1_md_23_aggregation_mixed() -> None:
    found = blockers(
        [
            Published("z", "bz", saying("4.18")),
            Published("a", "ba", saying('"4.17"')),
            Published("fine", "f", saying("4.19")),
            Published("sick", "s", "[1"),
        ],
        "4.18.7",
    )
    assert found.reason == "IncompatibleOperatorsInstalled"
    assert found.message == (
        f'{FOUND} 4.19: bundle "ba" for ClusterExtension "a",bundle "bz" for ClusterExtension "z".'
        "\n Additionally the following errors were encountered while getting extension metadata: "
        "error with cluster extension sick: error in bundle s: could not convert olm.properties: "
        "failed to unmarshal properties annotation: unexpected end of JSON input"
    )


def test_v1_md_23_aggregation_no_extensions() -> None:
    assert blockers([], "4.18.0") == FREE


def test_v1_md_23_aggregation_not_upgradeable() -> None:
    found = blockers([Published("e", "b", saying("4.18"))], "4.23.0")
    assert found.message == f'{FOUND} 5.1: bundle "b" for ClusterExtension "e".'
