"""JSON as Go writes it, and amounts as Kubernetes writes them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.bundle.encoding import json_text
from shared.domain.bundle.quantity import NotAQuantity, canonical


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (1.0, "1"), (0.5, "0.5"), (1e-7, "1e-7"), (1.5e-10, "1.5e-10"), (1e21, "1e+21"), (1.25e22, "1.25e+22"),
        (1e100, "1e+100"), (0.00001, "0.00001"), (1e20, "100000000000000000000"), (True, "true"), (None, "null"),
        ("<a&b>", '"\\u003ca\\u0026b\\u003e"'), ("é\n", '"é\\n"'), ("\u2028", '"\\u2028"'),
        ([1, [2]], "[1,[2]]"), ({"b": 1, "a": {}}, '{"a":{},"b":1}'), ("\ud800", '"\ufffd"'), (2**70, str(2**70)),
        ({"b": [0.5, {}, "x"], "a": 2}, '{"a":2,"b":[0.5,{},"x"]}'), ({"b": 0.5, "a": 2}, '{"a":2,"b":0.5}'),
    ],
)  # fmt: skip
def test_values_are_written_as_go_writes_them(value: object, wanted: str) -> None:
    assert json_text(value) == wanted


def test_the_order_of_keys_and_the_characters_of_html_may_stay() -> None:
    assert json_text({"b": 1, "a": "<"}, is_sorted=False, escape_html=False) == '{"b":1,"a":"<"}'
    assert json_text({"b": 1.5, "a": []}, is_sorted=False) == '{"b":1.5,"a":[]}'


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_what_is_written_reads_as_the_same_value(value: object) -> None:
    assert json.loads(json_text(value)) == value


@pytest.mark.parametrize(
    ("given_text", "wanted"),
    [
        ("1024Mi", "1Gi"), ("0.5", "500m"), ("1000m", "1"), ("1500m", "1500m"), ("2.5Gi", "2560Mi"), ("1e3", "1e3"),
        ("12E6", "12E6"), ("1E", "1E"), ("0.1Ki", "102400m"), ("1Ki", "1Ki"), ("1023", "1023"), ("0", "0"),
        ("1.", "1."),
        (".5", "500m"), ("1000Ki", "1000Ki"), ("-1Gi", "-1Gi"), ("0.0000000001", "1n"), ("1e0", "1e0"),
        ("100M", "100M"),
        ("1024Ei", "9223372036854775807"), ("0Mi", "0"), ("1e5", "100e3"), ("1.5e3", "1500"), ("1e-12", "1e-9"),
        ("+5Ki", "+5Ki"), ("Mi", "0"), ("3.3Ki", "3379200m"), ("1.5Ki", "1536"), ("100000k", "100M"),
        ("99999999999999999999", "99999999999999999999"), ("-8.5Ki", "-8704"),
    ],
)  # fmt: skip
def test_an_amount_is_written_as_kubernetes_writes_it(given_text: str, wanted: str) -> None:
    """Texts that are short already stay as they are, which is a habit of Kubernetes; the others get their one text."""
    assert canonical(given_text) == wanted


@pytest.mark.parametrize("text", ["", "x", "1Zi", "1 Gi", "1e", "--1", "1.2.3"])
def test_what_states_no_amount_is_refused(text: str) -> None:
    with pytest.raises(NotAQuantity):
        canonical(text)
