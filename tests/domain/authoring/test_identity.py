from __future__ import annotations

from typing import Any

import pytest

from shared.domain.authoring.identity import InvalidBundle, csv_of, display_name, install_modes, version_release
from shared.domain.catalog.config import Blob
from shared.domain.semver.release import NO_RELEASE
from tests.domain.authoring.catalogs import a_bundle, a_catalog, a_csv, an_embedded

SUBSTITUTE = {"metadata": {"annotations": {"olm.substitutesFor": "tea.v0"}}}


def bundle(version: str = "1.0.0", *properties: dict[str, Any], **fields: Any) -> Blob:
    return a_catalog(a_bundle("tea.v1", version, properties=properties, **fields)).bundles[0]


def released(release: str) -> Blob:
    value = {"packageName": "tea", "version": "8.11.3-opr-1+0.9999999999.x", "release": release}
    return {"name": "tea.v1", "properties": [{"type": "olm.package", "value": value}]}


def described(value: Any) -> dict[str, Any]:
    return {"type": "olm.csv.metadata", "value": value}


@pytest.mark.parametrize(
    ("properties", "is_release"),
    [
        pytest.param([an_embedded(a_csv() | SUBSTITUTE)], True, id="R167, R170: the CSV says so"),
        pytest.param([an_embedded(a_csv())], False, id="R167: the CSV does not say so"),
        pytest.param([an_embedded(a_csv() | {"metadata": {"annotations": {"olm.substitutesFor": ""}}})], False,
                     id="R167: an empty annotation"),
        pytest.param([an_embedded(a_csv() | {"metadata": []})], False, id="metadata that is none"),
        pytest.param([{"type": "olm.bundle.object", "value": {"data": "ezE="}}, described(SUBSTITUTE["metadata"])],
                     True, id="R168: an object that cannot be read, and a description that says so"),
        pytest.param([described(SUBSTITUTE["metadata"])], True, id="R169: the description says so"),
        pytest.param([described({"annotations": {}})], False, id="R169: without"),
        pytest.param([described({"annotations": None})], False, id="R169: no annotations"),
        pytest.param([described(None)], False, id="R169: no description"),
        pytest.param([an_embedded(a_csv()), described(SUBSTITUTE["metadata"])], False, id="R171: the CSV wins"),
        pytest.param([], False, id="R172, R174: neither"),
    ],
)  # fmt: skip
def test_build_metadata_is_a_release_where_a_bundle_stands_in_for_another(
    properties: list[dict[str, Any]], *, is_release: bool
) -> None:
    found = version_release(bundle("8.11.3-opr-1+0.1234567890.p", *properties))
    want = ("8.11.3-opr-1", "0.1234567890.p") if is_release else ("8.11.3-opr-1+0.1234567890.p", "")
    assert (str(found.version), str(found.release)) == want


def test_r175_a_stated_release_wins_over_build_metadata() -> None:
    found = version_release(released("0.1234567890.p"))
    assert (str(found.version), str(found.release)) == ("8.11.3-opr-1+0.9999999999.x", "0.1234567890.p")


def test_r176_without_build_metadata_there_is_no_release() -> None:
    assert version_release(bundle("1.0.0", an_embedded(a_csv() | SUBSTITUTE))).release == NO_RELEASE


@pytest.mark.parametrize(
    ("blob", "message"),
    [
        pytest.param(
            bundle("1.0.0", {"type": "olm.package", "value": {}}),
            'must be exactly one property of type "olm.package"',
            id="R178",
        ),
        pytest.param({"name": "b"}, 'no "olm.package" property found for bundle "b"', id="fbc.md 5.3: none"),
        pytest.param(
            bundle("1.x"),
            'invalid semver version "1.x" in "olm.package" property for bundle "tea.v1": '
            "No Major.Minor.Patch elements found",
            id="fbc.md 5.3: no version",
        ),
        pytest.param(
            released("a_b"),
            'invalid release "a_b" in "olm.package" property for bundle "tea.v1": invalid release "a_b": '
            'segment 0: Invalid character(s) found in prerelease "a_b"',
            id="fbc.md 5.3: no release",
        ),
        pytest.param(
            {"name": "b", "properties": [{"type": "olm.package", "value": 1}]},
            'unable to unmarshal "olm.package" property for bundle "b": json: cannot unmarshal number',
            id="fbc.md 5.3: no object",
        ),
        pytest.param(
            bundle("1.0.0+001", an_embedded(a_csv() | SUBSTITUTE)),
            'unable to convert build metadata to release for bundle "tea.v1": invalid release "001"',
            id="fbc.md 5.3: build metadata that is no release",
        ),
    ],
)
def test_a_bundle_that_cannot_be_ordered_states_why(blob: Blob, message: str) -> None:
    with pytest.raises(InvalidBundle) as caught:
        version_release(blob)
    assert str(caught.value).startswith(message)


def test_the_first_csv_counts_and_other_objects_do_not() -> None:
    found = {"properties": [
        {"type": "olm.package", "value": {}}, an_embedded({"kind": "Service"}),
        {"type": "olm.bundle.object", "value": {"data": [91, 93]}}, {"type": "olm.bundle.object", "value": 1},
        {"type": "olm.bundle.object", "value": {"data": "W10="}},
        an_embedded(a_csv(displayName="One")), an_embedded(a_csv(displayName="Two")),
    ]}  # fmt: skip
    csv = csv_of(found)
    assert csv is not None
    assert csv["spec"] == {"displayName": "One"}


@pytest.mark.parametrize(
    ("properties", "want"),
    [
        pytest.param([an_embedded(a_csv(displayName="Tea"))], "Tea", id="fbc.md 13.5: of the CSV"),
        pytest.param([an_embedded(a_csv(displayName=["Tea"]))], "", id="a list is no name"),
        pytest.param([described({"displayName": "Cup"})], "Cup", id="fbc.md 13.5, mended: of the description"),
        pytest.param([an_embedded({"kind": "ClusterServiceVersion"})], "", id="a CSV without spec"),
        pytest.param([], "", id="nothing"),
    ],
)
def test_the_name_for_people(properties: list[dict[str, Any]], want: str) -> None:
    assert display_name(bundle("1.0.0", *properties)) == want


OWN = {"type": "OwnNamespace", "supported": True}


@pytest.mark.parametrize(
    ("properties", "want"),
    [
        pytest.param([an_embedded(a_csv(installModes=[OWN]))], (OWN,), id="of the CSV"),
        pytest.param([described({"installModes": [OWN]})], (OWN,), id="of the description"),
        pytest.param([described({"installModes": "own"})], (), id="not a list"),
        pytest.param([], (), id="nothing"),
    ],
)
def test_the_install_modes_that_a_catalog_states(properties: list[dict[str, Any]], want: tuple[object, ...]) -> None:
    assert install_modes(bundle("1.0.0", *properties)) == want
