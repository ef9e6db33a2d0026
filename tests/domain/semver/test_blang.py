from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.semver import InvalidRange, Version, parse_range, parse_version


def in_range(version: Version | str, range_text: str) -> bool:
    return (parse_version(version) if isinstance(version, str) else version) in parse_range(range_text)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        pytest.param(">=1.0.0 <2.0.0", "1.0.0 1.9.9 2.0.0-0", "0.9.0 2.0.0 1.0.0-rc1", id="fbc.md 5.4: and"),
        pytest.param("<1.0.0 || >=2.0.0", "0.1.0 2.0.0", "1.0.0 1.5.0", id="fbc.md 5.4: or"),
        pytest.param("< 0.6.0", "0.5.9", "0.6.0", id="fbc.md 5.4: space after <"),
        pytest.param(">=  1.0.0", "1.0.0", "0.9.0", id="fbc.md 5.4: spaces after >="),
        pytest.param("1.2.x", "1.2.0 1.2.9", "1.1.9 1.3.0", id="fbc.md 5.4: minor wildcard"),
        pytest.param("1.x", "1.0.0 1.9.9", "0.9.9 2.0.0", id="fbc.md 5.4: major wildcard"),
        pytest.param(">1.x", "2.0.0", "1.9.9", id="fbc.md 5.4: above a wildcard"),
        pytest.param(">=1.x", "1.0.0", "0.9.9", id="fbc.md 5.4: from a wildcard"),
        pytest.param("<1.x", "0.9.9", "1.0.0", id="fbc.md 5.4: below a wildcard"),
        pytest.param("<=1.x", "1.9.9", "2.0.0", id="fbc.md 5.4: up to a wildcard"),
        pytest.param("!=1.x", "0.9.9 2.0.0", "1.0.0 1.5.0", id="fbc.md 5.4: not a wildcard, mended"),
        pytest.param("1.x.x", "1.0.0 1.5.0", "2.0.0", id="fbc.md 5.4: two wildcards, mended"),
        pytest.param("! 1.0.0", "1.0.1", "1.0.0", id="fbc.md 5.4: lone not, mended"),
        pytest.param("!1.0.0", "1.0.1", "1.0.0", id="fbc.md 5.4: not"),
        pytest.param("1.0.0 - 2.0.0", "", "1.0.0 1.5.0 2.0.0", id="fbc.md 5.4: hyphen is dropped"),
        pytest.param("<=1.0.0-next", "1.0.0-alpha 1.0.0-next", "1.0.0", id="fbc.md 5.4: x in a prerelease, mended"),
        pytest.param("==1.0.0", "1.0.0 1.0.0+build", "1.0.1", id="fbc.md 5.4: build metadata is ignored"),
        pytest.param("! 1.x", "0.9.9 2.0.0", "1.0.0", id="fbc.md 5.4: lone not before a wildcard, mended"),
        pytest.param("1.0.0 ! || 2.0.0", "1.0.0 2.0.0", "1.5.0", id="fbc.md 5.4: a lone not before || is dropped"),
        pytest.param("!=1.x " * 64, "0.9.9 2.0.0", "1.0.0", id="fbc.md 5.4: many choices cost no more than one"),
        pytest.param("~1.x", "1.0.0", "1.0.1", id="fbc.md 5.4: an unknown operator before a wildcard is dropped"),
        pytest.param(">1.02.x", "1.3.0", "1.2.9", id="fbc.md 5.4: the step over a wildcard forgives a zero"),
        pytest.param("\t>= 1.0.0", "1.0.0", "0.9.9", id="fbc.md 5.4: other blanks around an operator"),
        pytest.param("=1.0.0-x.1+linux", "1.0.0-x.1", "1.0.0", id="fbc.md 5.4: x in an exact prerelease, mended"),
        pytest.param("<=0.0.1", "0.0.1 0.0.1+1", "0.0.2", id="v1.md 15.8: build metadata of the tested version"),
        pytest.param(">=1.0.0 <1.2.0 !1.1.0", "1.1.1", "1.1.0", id="v1.md 15.8: a hole"),
        pytest.param(">1.0.0 || <0.5.0", "0.4.0 1.0.1", "0.7.0", id="v1.md 15.8: two ends"),
        pytest.param(">=1.2.x", "1.2.0 2.0.0", "1.1.9", id="v1.md 15.8: from a patch wildcard"),
        pytest.param("<=1.2.x", "1.2.9", "1.3.0", id="v1.md 15.8: up to a patch wildcard"),
        pytest.param(">=1.0.0 !=1.2.x || 3.0.0", "1.1.0 1.3.0 3.0.0", "1.2.4 0.1.0", id="fbc.md 5.4: all together"),
    ],
)
def test_a_range_holds_some_versions_and_not_others(text: str, inside: str, outside: str) -> None:
    assert [v for v in inside.split() if not in_range(v, text)] == []
    assert [v for v in outside.split() if in_range(v, text)] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(" ", "Last element in range is '||'", id="fbc.md 5.4: blank"),
        pytest.param("*", "Last element in range is '||'", id="fbc.md 5.4: star"),
        pytest.param("x", "Last element in range is '||'", id="fbc.md 5.4: x"),
        pytest.param("1.0.0 ||", "Last element in range is '||'", id="fbc.md 5.4: or at the end"),
        pytest.param("|| 1.0.0", "First element in range is '||'", id="fbc.md 5.4: or at the start"),
        pytest.param(
            "1.0.0 || || 2.0.0",
            "Could not parse Range \"1.0.0 || || 2.0.0\": an alternative between two '||' is empty",
            id="fbc.md 5.4: doubled or, mended",
        ),
        pytest.param(
            "1.0.0||2.0.0",
            'Could not parse Range "1.0.0||2.0.0": Could not parse version "1.0.0||2.0.0" in "1.0.0||2.0.0": '
            'Invalid character(s) found in patch number "0||2.0.0"',
            id="fbc.md 5.4: or without spaces",
        ),
        pytest.param(
            ">v0.1.0",
            'Could not parse Range ">v0.1.0": Could not parse comparator ">v" in ">v0.1.0"',
            id="fbc.md 5.4: leading v",
        ),
        pytest.param(
            "~1.0.0",
            'Could not parse Range "~1.0.0": Could not parse comparator "~" in "~1.0.0"',
            id="fbc.md 5.4: tilde",
        ),
        pytest.param(
            ">1.00.1",
            'Could not parse Range ">1.00.1": Could not parse version "1.00.1" in ">1.00.1": '
            'Minor number must not contain leading zeroes "00"',
            id="fbc.md 5.4: leading zeroes",
        ),
        pytest.param(
            "<1.0",
            'Could not parse Range "<1.0": Could not parse version "1.0" in "<1.0": '
            "No Major.Minor.Patch elements found",
            id="fbc.md 5.4: missing part",
        ),
        pytest.param(
            "<=9223372036854775807.x", 'Could not get version from string: "<"', id="fbc.md 5.4: 2^63 under a wildcard"
        ),
        pytest.param(f"<={'9' * 5000}.x", 'Could not get version from string: "<"', id="fbc.md 5.4: 5000 digits"),
        pytest.param("x.x", 'Could not get version from string: "x.x"', id="v1.md 15.8: no digit at all"),
        pytest.param("1.0.0 é", 'Could not get version from string: "é"', id="fbc.md 5.4: a letter of two bytes"),
        pytest.param("1.0.0 > ", 'Could not get version from string: ">"', id="fbc.md 5.4: an operator at the end"),
        pytest.param("1.0.0 ab", 'Could not get version from string: "ab"', id="fbc.md 5.4: a word"),
    ],
)
def test_what_is_not_a_range_says_which_part_is_wrong(text: str, message: str) -> None:
    with pytest.raises(InvalidRange) as caught:
        parse_range(text)
    assert str(caught.value) == message


_numbers = st.integers(0, 3)
_versions = st.builds(
    "{}.{}.{}{}".format, _numbers, _numbers, _numbers, st.sampled_from(["", "-0", "-a", "-a.1", "+b"])
)
_wild = st.one_of(st.builds("{}.{}.x".format, _numbers, _numbers), st.builds("{}.x".format, _numbers))
_signs = st.sampled_from(["", "=", "==", "!", "!=", ">", "<", ">=", "<="])
_terms = st.builds("{}{}".format, _signs, st.one_of(_versions, _wild))
_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@given(_terms, _terms, _versions)
def test_a_blank_means_both_and_two_bars_mean_either(one: str, other: str, version: str) -> None:
    first, second = in_range(version, one), in_range(version, other)
    assert in_range(version, f"{one} {other}") == (first and second)
    assert in_range(version, f"{one} || {other}") == (first or second)


@given(st.sampled_from(sorted(_OPPOSITE)), st.one_of(_versions, _wild), _versions)
def test_each_operator_has_its_opposite(sign: str, operand: str, version: str) -> None:
    assert in_range(version, sign + operand) != in_range(version, _OPPOSITE[sign] + operand)


@given(st.text(alphabet="0123456789.x*v-+|<>=!~ \tab", max_size=40))
def test_any_text_is_a_range_or_is_refused(text: str) -> None:
    with contextlib.suppress(InvalidRange):
        assert isinstance(parse_version("1.2.3") in parse_range(text), bool)
