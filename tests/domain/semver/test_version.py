from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.semver import InvalidVersion, parse_tolerant, parse_version, refusals


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "Version string empty", id="fbc.md 5.1: empty"),
        pytest.param("1.0", "No Major.Minor.Patch elements found", id="fbc.md 5.1: missing part"),
        pytest.param("v1.0.0", 'Invalid character(s) found in major number "v1"', id="fbc.md 5.1: leading v"),
        pytest.param("0.1.0.1", 'Invalid character(s) found in patch number "0.1"', id="fbc.md 5.1: four parts"),
        pytest.param("01.0.0", 'Major number must not contain leading zeroes "01"', id="fbc.md 5.1: major zeroes"),
        pytest.param("1.00.0", 'Minor number must not contain leading zeroes "00"', id="fbc.md 5.1: minor zeroes"),
        pytest.param("1.0.0-", "Prerelease is empty", id="fbc.md 5.1: empty prerelease"),
        pytest.param("1.0.0-a_b", 'Invalid character(s) found in prerelease "a_b"', id="fbc.md 5.1: prerelease"),
        pytest.param(
            "1.0.0-01",
            'Numeric PreRelease version must not contain leading zeroes "01"',
            id="fbc.md 5.1: prerelease zeroes",
        ),
        pytest.param("1.0.0+", "Build meta data is empty", id="fbc.md 5.1: empty build"),
        pytest.param("1.0.0+a_b", 'Invalid character(s) found in build meta data "a_b"', id="fbc.md 5.1: build"),
        pytest.param(
            "1.0.0+a.b_", 'Invalid character(s) found in build meta data "b_"', id="fbc.md 5.1: second of build"
        ),
        pytest.param(
            "1.0.18446744073709551616",
            'strconv.ParseUint: parsing "18446744073709551616": value out of range',
            id="fbc.md 5.4: 2^64",
        ),
        pytest.param(".0.0", 'strconv.ParseUint: parsing "": invalid syntax', id="fbc.md 5.1: empty part"),
    ],
)
def test_what_is_not_a_version_says_which_part_is_wrong(text: str, message: str) -> None:
    with pytest.raises(InvalidVersion) as caught:
        parse_version(text)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["1.0.0", "1.0.0-a.1", "1.0.0+a"])
def test_of_a_version_nothing_is_refused(text: str) -> None:
    assert refusals.of_version(text) == ""


def test_versions_sort_by_precedence() -> None:
    texts = ["1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta", "1.0.0", "1.0.1", "1.10.0"]
    assert [str(version) for version in sorted(map(parse_version, reversed(texts)))] == texts


def test_build_metadata_does_not_count() -> None:
    assert parse_version("1.0.0+a") == parse_version("1.0.0+b.2")
    assert str(parse_version("1.0.0+a")) == "1.0.0+a"


_numbers = st.integers(0, 2**64 - 1)


@given(_numbers, _numbers, _numbers)
def test_three_numbers_are_a_version_ordered_as_a_tuple(major: int, minor: int, patch: int) -> None:
    version = parse_version(f"{major}.{minor}.{patch}")
    assert (version.major, version.minor, version.patch) == (major, minor, patch)
    assert version > parse_version(f"{major}.{minor}.{patch}-0")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(" v1.2.3 ", "1.2.3", id="a prefix and blanks"),
        pytest.param("1.2", "1.2.0", id="a missing part"),
        pytest.param("1", "1.0.0", id="two missing parts"),
        pytest.param("01.002.000-rc", "1.2.0-rc", id="leading zeroes"),
        pytest.param("00.1", "0.1.0", id="only zeroes"),
    ],
)
def test_the_tolerant_reader_forgives(text: str, want: str) -> None:
    assert str(parse_tolerant(text)) == want


@pytest.mark.parametrize("text", ["", "v", "1-rc", "1.2+b", "vv1.0.0", "a1.0.0", "1.2.3.4"])
def test_the_tolerant_reader_does_not_forgive(text: str) -> None:
    with pytest.raises(InvalidVersion):
        parse_tolerant(text)


_near_versions = st.lists(
    st.sampled_from([*"0019.-+ v_é\n", "1.0.0", "rc", str(2**64 - 1), str(2**64), "٣", "9" * 5000]), max_size=9
).map("".join)


def read(text: str) -> tuple[str, str]:
    """The version that a text states, or why it states none."""
    try:
        return str(parse_version(text)), ""
    except InvalidVersion as error:
        return "", str(error)


@given(_near_versions)
def test_every_text_is_a_version_or_told_why_not(text: str) -> None:
    why = refusals.of_version(text)
    assert read(text) == (("", why) if why else (text, ""))
