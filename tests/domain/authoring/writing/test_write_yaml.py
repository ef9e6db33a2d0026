from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.authoring.writing.write_yaml import to_yaml
from shared.domain.go import yaml as goyaml
from tests.domain.authoring.catalogs import WRITTEN

ANSWERS = [json.loads(line) for line in (WRITTEN / "yaml.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda each: f"fbc.md 8.1: {each['json'][:60]}")
def test_yaml_is_written_byte_by_byte_as_the_go_library_writes_it(answer: dict[str, str]) -> None:
    assert to_yaml(json.loads(answer["json"])) == answer["yaml"]


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param("2001-02-29", "2001-02-29", id="not a day of that year"),
        pytest.param("2004-02-29", '"2004-02-29"', id="a day of a leap year"),
        pytest.param("1900-02-29", "1900-02-29", id="a century is no leap year"),
        pytest.param("2001-04-31", "2001-04-31", id="a short month"),
        pytest.param("2001-13-01", "2001-13-01", id="not a month"),
        pytest.param("2001-01-01T25:00:00Z", "2001-01-01T25:00:00Z", id="not an hour"),
        pytest.param("2001-01-01T24:00:00Z", "2001-01-01T24:00:00Z", id="midnight is another day"),
        pytest.param("2001-1-1 1:2:3.5", '"2001-1-1 1:2:3.5"', id="an instant"),
        pytest.param("1:30", '"1:30"', id="base sixty"),
        pytest.param("", '""', id="nothing"),
        pytest.param("\u2028", "'\u2028'", id="only a break of lines"),
        pytest.param("a\u2028b", "'a\u2028  b'", id="a break that is no line feed"),
        pytest.param("\x01\x1b\U0001f600\ufeff", '"\\x01\\e\\U0001F600\\uFEFF"', id="what cannot be printed"),
        pytest.param("a " * 50 + "\t", '"' + "a " * 38 + "a\n  " + "a " * 11 + '\\t"', id="folded in quotes"),
        pytest.param(" " * 90 + "\t", '"' + " " * 90 + '\\t"', id="only blanks in quotes"),
        pytest.param(1.5, "1.5", id="a number with a point"),
        pytest.param(2**70, str(2**70), id="a large number"),
        pytest.param([[]], "\n- []", id="an empty list in a list"),
    ],
)
def test_a_value_is_written(value: Any, want: str) -> None:
    text = to_yaml({"k": value})
    assert text == f"k:{'' if want.startswith(chr(10)) else ' '}{want}\n"
    assert goyaml.load(text) == {"k": value}


def test_keys_that_take_no_line_stand_alone() -> None:
    long = "k" * 129
    assert to_yaml({long: [1]}) == f"? {long}\n: - 1\n"
    assert to_yaml({"a\nb": {"c": 1}}) == "? |-\n  a\n  b\n: c: 1\n"
    assert to_yaml({"\t": 1}) == '"\\t": 1\n'


def test_keys_sort_with_numbers_by_value_and_letters_last() -> None:
    keys = ["", "-", "0", "00", "1", "10", "A", "a", "a-b", "a.b", "a1", "a1b", "a2", "a10", "ab"]
    assert list(goyaml.load(to_yaml(dict.fromkeys(reversed(keys), 0)))) == keys


_texts = st.text(alphabet="ab:#-?'\"\\ \n\t{}[],&*!|>%@`0123456789.~yné\u2028\U0001f600", max_size=100)
_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), _texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_texts, inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(_texts, _values, max_size=4))
def test_what_is_written_reads_as_the_same_value(value: dict[str, Any]) -> None:
    assert (goyaml.document(to_yaml(value).encode()) or {}) == value
