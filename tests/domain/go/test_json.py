from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.go import json as gojson
from shared.domain.go.json import JsonError
from tests.kit.waiting import costing_at_most


def slowly(content: bytes) -> object:
    """The value as the reader tells it that is asked when the quick one gives up."""
    return gojson._Reader(content).value()


@pytest.mark.parametrize(
    ("content", "value"),
    [
        pytest.param(
            b'{"a": [1, 2.5, -3e2, true, false, null, {}, []]}', {"a": [1, 2.5, -300, True, False, None, {}, []]}
        ),
        pytest.param(b'"\\u00e9\\ud83d\\ude00\\n\\/"', "é😀\n/"),
        pytest.param(b'{"a": 1, "a": 2}', {"a": 2}),
        pytest.param(b" [ ] ", []),
    ],
)
def test_both_readers_agree(content: bytes, value: object) -> None:
    assert gojson.loads(content) == value
    assert slowly(content) == value


@pytest.mark.parametrize(
    ("content", "value"),
    [
        pytest.param(b'"\\ud800x"', "\ufffdx", id="half a surrogate pair"),
        pytest.param(b'"a\xffb"', "a\ufffdb", id="bytes that are no text"),
        pytest.param(b"12345678901234567890123", 1.2345678901234568e22, id="digits"),
    ],
)
def test_what_go_forgives(content: bytes, value: object) -> None:
    assert gojson.loads(content) == value


def test_depth_costs_no_stack() -> None:
    assert isinstance(gojson.loads(b"[" * 5000 + b"]" * 5000), list)
    with pytest.raises(JsonError, match="exceeded max depth"):
        gojson.loads(b"[" * 20_000)


@pytest.mark.parametrize(
    ("content", "message", "offset"),
    [
        pytest.param(b"", "unexpected end of JSON input", 0, id="nothing"),
        pytest.param(b'{"a"', "unexpected end of JSON input", 4, id="an end too early"),
        pytest.param(b'"a', "unexpected end of JSON input", 2, id="an end inside a text"),
        pytest.param(b"x", "invalid character 'x' looking for beginning of value", 1, id="no value"),
        pytest.param(b"{1}", "invalid character '1' looking for beginning of object key string", 2, id="no key"),
        pytest.param(b'{"a" 1}', "invalid character '1' after object key", 6, id="no colon"),
        pytest.param(b'{"a":1 2}', "invalid character '2' after object key:value pair", 8, id="no comma"),
        pytest.param(b"[1 2]", "invalid character '2' after array element", 4, id="no comma in a list"),
        pytest.param(b'{"a":1}x', "invalid character 'x' after top-level value", 8, id="something behind"),
        pytest.param(b"-x", "invalid character 'x' in numeric literal", 2, id="no digits"),
        pytest.param(b"trx", "invalid character 'x' in literal true (expecting 'u')", 3, id="half a word"),
        pytest.param(b"tru", "unexpected end of JSON input", 3, id="a word without its end"),
        pytest.param(b'"a\nb"', "invalid character '\\n' in string literal", 3, id="a line break in a text"),
        pytest.param(b'"\\x"', "invalid character 'x' in string escape code", 3, id="an unknown escape"),
        pytest.param(b'"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape", 6, id="no hex digit"),
        pytest.param(
            b"'a'", "invalid character '\\'' looking for beginning of value", 1, id="a quote of the wrong kind"
        ),
        pytest.param(b"1e400", "json: cannot unmarshal number 1e400 into Go value of type float64", 5, id="too large"),
    ],
)
def test_refusals_say_what_and_where(content: bytes, message: str, offset: int) -> None:
    with pytest.raises(JsonError) as caught:
        gojson.loads(content)
    assert (str(caught.value), caught.value.offset) == (message, offset)


def test_the_first_of_several_values() -> None:
    assert gojson.first(b'  {"a":"}\\""}{"b":1}', 2) == ({"a": '}"'}, 13)
    assert gojson.first(b'{"a":"\xff"} x') == ({"a": "\ufffd"}, 9)
    with pytest.raises(JsonError, match="invalid character ']'"):
        gojson.first(b'{"a": ]}')
    with pytest.raises(JsonError, match="unexpected EOF"):
        gojson.first(b'{"a": {}')


def test_an_object_has_to_end_some_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gojson, "LARGEST", 10)
    with pytest.raises(JsonError, match="an object of more than 0 MiB"):
        gojson.first(b'{"a": "' + b"x" * 100 + b'"}')


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)


@given(_values, st.booleans())
def test_the_slow_reader_reads_what_is_written(value: object, ensure_ascii: bool) -> None:
    assert slowly(json.dumps(value, ensure_ascii=ensure_ascii).encode()) == value


@pytest.mark.parametrize("end", ["", "\\"])
def test_a_text_without_an_end_is_refused_in_linear_time(end: str) -> None:
    content = ('{"schema":"a","x":"' + '\\"' * 200_000 + end).encode()
    with costing_at_most(5, "each quote in it as a beginning takes minutes"), pytest.raises(gojson.JsonError):
        gojson.first(content)
