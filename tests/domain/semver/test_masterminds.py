from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.semver import InvalidRange, InvalidVersion, parse_constraint, parse_loose, parse_version

ROWS = [json.loads(line) for line in Path(__file__).with_name("masterminds.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['row']}: {row['range']}")
def test_a_row_of_the_spec_holds(row: dict[str, Any]) -> None:
    desired = parse_constraint(row["range"])
    assert [version for version in row["in"] if parse_loose(version) not in desired] == []
    assert [version for version in row["out"] if parse_loose(version) in desired] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("foobar", 'improper constraint: "foobar"', id="v1.md 15.5: a word"),
        pytest.param("1.Y", 'improper constraint: "1.Y"', id="v1.md 15.5: Y"),
        pytest.param("1.2.3.4", 'improper constraint: "1.2.3.4"', id="v1.md 15.5: four parts"),
        pytest.param(">=1.2.3,,<2", 'improper constraint: ">=1.2.3,,<2"', id="v1.md 15.5: two commas"),
        pytest.param(">=1.2.3,", 'improper constraint: ">=1.2.3,"', id="v1.md 15.5: comma at the end"),
        pytest.param(",>=1.2.3", 'improper constraint: ",>=1.2.3"', id="v1.md 15.5: comma at the start"),
        pytest.param("|| >=1.2.3", 'improper constraint: ""', id="v1.md 15.5: || at the start"),
        pytest.param(">=1.2.3 ||", 'improper constraint: ""', id="v1.md 15.5: || at the end"),
        pytest.param(">=1.2.3 || || 1", 'improper constraint: " "', id="v1.md 15.5: || twice"),
        pytest.param(" ", 'improper constraint: " "', id="v1.md 15.5: a blank"),
        pytest.param("", 'improper constraint: ""', id="v1.md 15.2: nothing"),
        *(
            pytest.param(text, f'improper constraint: "{text}"', id=f"v1.md 15.5: {text}")
            for text in ("> =1.2.3", "==1.2.3", "=!1.2.3", "!1.2.3", "<<1", ">>1", ">~1", "&&", ";", ">=V1.2.3")
        ),
        *(
            pytest.param(text, f'improper constraint: "{text}"', id=f"v1.md 15.5: {text}")
            for text in ("1.2.3-", "1.2.3+", "1.2.3-alpha..1", "1.2.3-é", "1.2.3 -2.0.0", "1.2.3- 2.0.0")
        ),
        pytest.param("1.2.3>1.0.0", 'improper constraint: "1.2.3>1.0.0"', id="v1.md 15.5: no separator"),
        pytest.param("1.0.0 || *]", 'improper constraint: " *]"', id="v1.md 15.5: stray bracket"),
        pytest.param("1|2", "constraint parser error", id="v1.md 15.5: a single bar"),
        pytest.param("|", "constraint parser error", id="v1.md 15.5: only a bar"),
        pytest.param("1.2.3-01", "constraint parser error", id="v1.md 15.5: leading zero"),
        pytest.param("1.2.3-beta.01", "constraint parser error", id="v1.md 15.5: leading zero after a dot"),
        pytest.param("18446744073709551616.0.0", "constraint parser error", id="v1.md 15.5: 2^64"),
        pytest.param(f"1.2.3-{'a' * 251}", "constraint parser error", id="v1.md 15.2: a version of 257 bytes"),
        pytest.param("1" * 513, "constraint string is too long (max 512 bytes)", id="v1.md 15.2: 513 bytes"),
        pytest.param("||".join("1" * 33), "too many constraint groups (max 32)", id="v1.md 15.2: 33 groups"),
        pytest.param("1x || !", "constraint parser error", id="v1.md 15.2: one part after the other"),
        pytest.param("1x !", 'improper constraint: "1x !"', id="v1.md 15.2: the grammar of a part comes first"),
    ],
)
def test_what_is_not_a_range_states_why(text: str, message: str) -> None:
    with pytest.raises(InvalidRange) as caught:
        parse_constraint(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        pytest.param("18446744073709551615.0.0", "18446744073709551615.0.0", id="v1.md 15.5: 2^64 - 1"),
        pytest.param("01.2.3", "1.2.3", id="v1.md 15.5: zeroes before the major"),
        pytest.param("1.*.3", "1.9.9", id="v1.md 15.5: a wildcard in the middle"),
        pytest.param("1.2.3||2.0.0", "2.0.0", id="v1.md 15.5: no blank around ||"),
        pytest.param(">= 1.2.3-alpha.99999999999999999999", "1.2.3-alpha.a", id="v1.md 15.3: a number above 64 bits"),
        pytest.param(" >=1.2.3 ", "1.2.3", id="v1.md 15.5: blanks around"),
        pytest.param("^ 1.2.3", "1.2.4", id="v1.md 15.5: a blank behind the operator"),
        pytest.param("2 - 3, 4.0.0 - 5.1 || 7", "7.1.0", id="v1.md 15.5: two hyphens"),
    ],
)
def test_odd_spellings_are_ranges(text: str, inside: str) -> None:
    assert parse_version(inside) in parse_constraint(text)


@pytest.mark.parametrize("text", ["", "1.2.3.4", "V1", "1.2.3-01", "1." + "0" * 255, "a", "1.2.3 "])
def test_what_is_not_a_version_in_this_dialect(text: str) -> None:
    with pytest.raises(InvalidVersion):
        parse_loose(text)


_numbers = st.integers(0, 3)
_versions = st.builds(
    "{}.{}.{}{}".format, _numbers, _numbers, _numbers, st.sampled_from(["", "-0", "-a", "-a.1", "+b"])
)
_operands = st.one_of(_versions, st.builds("{}.{}".format, _numbers, _numbers), st.sampled_from(["1", "x", "0.x", "*"]))
_signs = st.sampled_from(["", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^"])
_terms = st.builds("{}{}{}".format, _signs, st.sampled_from(["", " "]), _operands)
_ranges = st.lists(_terms, min_size=1, max_size=3).map(", ".join)


@given(_ranges, _ranges, _versions)
def test_or_holds_what_either_holds(one: str, other: str, text: str) -> None:
    version = parse_version(text)
    either = version in parse_constraint(one) or version in parse_constraint(other)
    assert (version in parse_constraint(f"{one}||{other}")) == either


@given(_terms, _versions)
def test_a_release_lies_in_and_exactly_where_it_lies_in_both(term: str, text: str) -> None:
    version = parse_version(text.partition("-")[0].partition("+")[0])
    both = version in parse_constraint(term) and version in parse_constraint(">=1.1.0")
    assert (version in parse_constraint(f"{term} >=1.1.0")) == both


@given(st.text(alphabet="0123456789.xX*v-+|<>=!~^, \tab", max_size=40))
def test_any_text_is_a_range_or_is_refused(text: str) -> None:
    with contextlib.suppress(InvalidRange):
        assert isinstance(parse_version("1.2.3") in parse_constraint(text), bool)


def test_a_text_made_to_backtrack_is_refused_at_once() -> None:
    text = "1   " * 127 + "!"
    with pytest.raises(InvalidRange):
        parse_constraint(text)
