"""JSON as Go writes it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.go.encode import indented_json, json_text, normalized


@pytest.mark.parametrize(
    ("value", "desired"),
    [
        (1.0, "1"), (0.5, "0.5"), (1e-7, "1e-7"), (1.5e-10, "1.5e-10"), (1e21, "1e+21"), (1.25e22, "1.25e+22"),
        (1e100, "1e+100"), (0.00001, "0.00001"), (1e20, "100000000000000000000"), (True, "true"), (None, "null"),
        ("<a&b>", '"\\u003ca\\u0026b\\u003e"'), ("é\n", '"é\\n"'), ("\u2028", '"\\u2028"'),
        ([1, [2]], "[1,[2]]"), ({"b": 1, "a": {}}, '{"a":{},"b":1}'), ("\ud800", '"\ufffd"'), (2**70, str(2**70)),
        ({"b": [0.5, {}, "x"], "a": 2}, '{"a":2,"b":[0.5,{},"x"]}'), ({"b": 0.5, "a": 2}, '{"a":2,"b":0.5}'),
    ],
)  # fmt: skip
def test_values_are_written_as_go_writes_them(value: object, desired: str) -> None:
    assert json_text(value) == desired


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param({"b": 1, "a": "<&>"}, '{"b":1,"a":"<&>"}', id="fbc.md 8.1: no escapes for HTML"),
        pytest.param({"a": "\u2028\u2029"}, '{"a":"\\u2028\\u2029"}', id="line separators are escaped all the same"),
        pytest.param({"a": [1.0, 1e21, {"b": 1e-7}]}, '{"a":[1,1e+21,{"b":1e-7}]}', id="numbers with a point"),
        pytest.param({"a": 2**70}, f'{{"a":{2**70}}}', id="fbc.md 2.2, mended: more than 64 bits"),
        pytest.param({"b": [1.0, 2**70], "a": {}}, f'{{"b":[1,{2**70}],"a":{{}}}}', id="beside such a number"),
    ],
)
def test_the_order_of_keys_and_the_characters_of_html_may_stay(value: dict[str, object], want: str) -> None:
    assert json_text(value, is_sorted=False, escapes_html=False) == want


def test_a_document_may_be_indented() -> None:
    assert indented_json({"b": 1, "a": "<"}) == b'{\n    "b": 1,\n    "a": "<"\n}\n'
    assert indented_json({"a": "<"}, escapes_html=True) == b'{\n    "a": "\\u003c"\n}\n'
    assert indented_json({"a": []}) == b'{\n    "a": []\n}\n'


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_what_is_written_reads_as_the_same_value(value: object) -> None:
    assert json.loads(json_text(value)) == value


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(b'{ "b": "<1.5>",\n"a": [1, -20] }', b'{"a":[1,-20],"b":"<1.5>"}', id="whole numbers"),
        pytest.param(b'{"b":[ 1.50],"a": -2e2}', b'{"a":-200,"b":[1.5]}', id="fractions"),
        pytest.param(b"1.0", b"1", id="nothing but a number"),
        pytest.param('["\u2028", "’<"]'.encode(), '["\\u2028","’<"]'.encode(), id="separators of lines"),
        pytest.param(b'["\\ud800"]', '["\ufffd"]'.encode(), id="half of a pair"),
        pytest.param(b"[123456789012345678901]", b"[123456789012345680000]", id="more than 64 bits"),
    ],
)
def test_v1_md_5_1_a_text_is_reported_again_as_go_does(text: bytes, want: bytes) -> None:
    assert normalized(text) == want


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text() | st.floats(-1e15, 1e15),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_no_fraction_is_overlooked(value: object) -> None:
    assert normalized(json.dumps(value).encode()).decode() == json_text(value, escapes_html=False)
