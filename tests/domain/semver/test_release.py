from __future__ import annotations

import pytest

from shared.domain.semver import InvalidVersion, parse_version
from shared.domain.semver.comparison import Order, compared
from shared.domain.semver.release import (
    NO_RELEASE,
    InvalidRelease,
    parse_release,
    with_build_as_release,
)


@pytest.mark.parametrize("text", ["alpha", "1", "alpha.1.beta.2", "rc-1.beta-2", "0", "0alpha", "1234567890" * 2])
def test_fbc_r155_r156_a_release_is_read(text: str) -> None:
    assert str(parse_release(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("1" * 21, f'invalid release "{"1" * 21}": exceeds maximum length of 20 characters', id="R157"),
        pytest.param(
            "01",
            'invalid release "01": segment 0: Numeric PreRelease version must not contain leading zeroes "01"',
            id="R158: 01",
        ),
        pytest.param(
            "alpha_beta",
            'invalid release "alpha_beta": segment 0: Invalid character(s) found in prerelease "alpha_beta"',
            id="R159",
        ),
        pytest.param(
            "!!!.a.",
            'invalid release "!!!.a.": segment 0: Invalid character(s) found in prerelease "!!!"\n'
            "segment 2: Prerelease is empty",
            id="fbc.md 5.2: every bad segment",
        ),
    ],
)
def test_what_is_not_a_release_states_why(text: str, message: str) -> None:
    with pytest.raises(InvalidRelease) as caught:
        parse_release(text)
    assert str(caught.value) == message


def test_fbc_5_2_releases_sort_identifier_by_identifier() -> None:
    texts = ["", "1", "2", "10", "alpha", "alpha.1", "beta"]
    assert [str(release) for release in sorted(map(parse_release, reversed(texts)))] == texts


def test_fbc_r161_no_text_states_no_release() -> None:
    assert parse_release("") == NO_RELEASE


def test_fbc_r162_a_version_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidVersion):
        parse_version("not-a-version")


def test_fbc_r173_build_metadata_becomes_the_release() -> None:
    found = with_build_as_release(parse_version("8.11.3-opr-1+0.1234567890.p"))
    assert (str(found.version), str(found.release)) == ("8.11.3-opr-1", "0.1234567890.p")


def test_fbc_r176_without_build_metadata_there_is_no_release() -> None:
    assert with_build_as_release(parse_version("1.0.0")).release == NO_RELEASE


def test_v1_md_14_build_metadata_with_a_leading_zero_is_no_release() -> None:
    with pytest.raises(InvalidRelease):
        with_build_as_release(parse_version("1.0.0+001"))


@pytest.mark.parametrize(
    ("order", "sign"),
    [
        pytest.param(Order.PRECEDENCE, 0, id="fbc.md 5.1: build metadata is ignored"),
        pytest.param(Order.BUILD, -1, id="fbc.md 5.1: build metadata breaks ties"),
        pytest.param(Order.RELEASE, -1, id="v1.md 14: the release breaks ties"),
    ],
)
def test_build_metadata_counts_where_it_is_asked_for(order: Order, sign: int) -> None:
    assert compared("1.0.0+2", "1.0.0+10", order=order) == sign
    assert compared("1.0.0", "1.0.0+0", order=order) == sign
    assert compared("1.0.0", "0.9.0+0", order=order) == 1


def test_fbc_5_1_no_build_metadata_is_lower_than_any() -> None:
    assert compared("1.0.0", "1.0.0+0", order=Order.BUILD) == -1
