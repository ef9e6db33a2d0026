from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.go import stream as gostream
from shared.domain.go.yaml import YamlError, load, load_value
from tests.kit.waiting import costing_at_most

_CASES = Path(__file__).parents[2] / "spec" / "yaml-fidelity-cases.jsonl"
_KEPT_AS_WRITTEN = {'{"a":1e400}', '{"a":"\\ud800"}'}
"""Recorded with a reader that does not decode JSON; that of catalogs does (a half of a pair becomes U+FFFD)."""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("a: y\nb: Off\nc: ~", {"a": True, "b": False, "c": None}, id="fbc.md 2.1: words"),
        pytest.param("yes: 1\nno: 2", {"true": 1, "false": 2}, id="fbc.md 2.1: words as keys"),
        pytest.param("a: 010\nb: 0o10\nc: 09", {"a": 8, "b": 8, "c": 9}, id="fbc.md 2.1: octal"),
        pytest.param("[0x1F, 0b11, 1_000, 1e3, .5]", [31, 3, 1000, 1000, 0.5], id="fbc.md 2.1: numbers"),
        pytest.param("a: 1:30\nb: 2001-01-01", {"a": "1:30", "b": "2001-01-01"}, id="fbc.md 2.1: no sexagesimals"),
        pytest.param("1: a\n2.5: b\n1e20: c", {"1": "a", "2.5": "b", "1e+20": "c"}, id="fbc.md 2.1: number keys"),
        pytest.param("a: !!str 5\nb: !!binary aGk=", {"a": "5", "b": "hi"}, id="fbc.md 2.1: tags"),
        pytest.param("a: 1\na: 2", {"a": 2}, id="fbc.md 2.1: the last duplicate wins"),
        pytest.param("a: &x {p: 1}\nb:\n  <<: *x\n  q: 2", {"a": {"p": 1}, "b": {"p": 1, "q": 2}}, id="merge"),
        pytest.param("a: 18446744073709551616", {"a": 18446744073709552000}, id="a number beyond 64 bits is a float"),
        pytest.param("a: " + "9" * 5000, {"a": "9" * 5000}, id="a number beyond all floats is text"),
        pytest.param("a: 0" + "0" * 5000 + "17", {"a": 15}, id="zeros in front of an octal number do not count"),
        pytest.param("a: 1\n---\nb: [", {"a": 1}, id="what follows the first document is not looked at"),
        pytest.param(b'\xef\xbb\xbf{"a": 1}', {"a": 1}, id="a byte order mark is no content"),
        pytest.param("", None, id="nothing"),
        pytest.param("a: &x k\n*x : v", {"a": "k", "k": "v"}, id="an alias as a key"),
        pytest.param("a: \"x\"\nb: '\\/'", {"a": "x", "b": "\\/"}, id="an escape of JSON in single quotes is text"),
    ],
)
def test_values_are_those_of_go(text: str | bytes, value: object) -> None:
    assert load_value(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: .inf", "json: unsupported value: +Inf", id="fbc.md 2.1: infinity"),
        pytest.param("~: x", "unsupported map key of type: NoneType, key: None", id="fbc.md 2.1: null key"),
        pytest.param("a: &a [*a]", "anchor 'a' value contains itself", id="an anchor inside itself"),
        pytest.param("a: *b", "unknown anchor 'b' referenced", id="an anchor that is not there"),
        pytest.param("? [a]\n: b", "line 1: invalid map key", id="a list as a key"),
        pytest.param('a: "\\/"', "line 1: found unknown escape character", id="an escape of JSON"),
        pytest.param("%YAML 1.2\n---\na: 1", "found incompatible YAML document", id="another YAML"),
        pytest.param("a: b: c", "line 1: mapping values are not allowed in this context", id="syntax, with its line"),
        pytest.param("a: !!binary é", "!!binary value contains invalid base64 data", id="binary that is no base64"),
        pytest.param(b"a: \xff", "line 1: invalid leading UTF-8 octet", id="octets that begin no character"),
        pytest.param(b"a: \xc3", "incomplete UTF-8 octet sequence", id="octets that end too early"),
        pytest.param(b"a: \xc3a", "invalid trailing UTF-8 octet", id="octets that do not go on"),
        pytest.param(b"a: \xe0\x80\x80", "invalid length of a UTF-8 sequence", id="more octets than needed"),
        pytest.param(b"a: \xed\xa0\x80", "invalid Unicode character", id="half of a pair"),
        pytest.param("a: !!int ~", "cannot decode !!null `~` as a !!int", id="a tag that its value has not"),
        pytest.param("a: !!bool 1", "cannot decode !!int `1` as a !!bool", id="another one"),
        pytest.param("a: !!int x\nb: [", "did not find expected node content", id="syntax is read first"),
        pytest.param("a: !!int x\nb: &c 1\nd: *e", "unknown anchor 'e' referenced", id="an anchor is syntax, too"),
        pytest.param("a: !!int x\nb: &c 1\nd: *c", "cannot decode !!str `x` as a !!int", id="an anchor behind a value"),
        pytest.param("[" * 5000, "nested too deeply", id="depth"),
        pytest.param(
            "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"{key}: &{key} [{','.join([f'*{below}'] * 10)}]\n"
                for below, key in zip("abcdefg", "bcdefgh", strict=True)
            ),
            "document contains excessive aliasing",
            id="an alias bomb",
        ),
    ],
)
def test_refusals_are_those_of_go(text: str | bytes, message: str) -> None:
    with pytest.raises(YamlError) as caught:
        load_value(text)
    assert message in str(caught.value)


@pytest.fixture
def deep_recursion() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(30_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("deep_recursion")
def test_values_may_be_nested_a_thousand_times() -> None:
    assert isinstance(load_value("[" * 990 + "]" * 990), list)
    with pytest.raises(YamlError, match="line 1: exceeded max depth of 1000"):
        load_value("[" * 1_010 + "]" * 1_010)
    with pytest.raises(YamlError, match="nested too deeply"):
        load_value("[x:, " + "[" * 300 + "]" * 301)


@pytest.mark.usefixtures("deep_recursion")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 400_000, id="brackets that never close"),
        pytest.param("[{a: " * 100_000, id="braces"),
        pytest.param("- " * 100_000, id="dashes"),
        pytest.param("a: !!int x\nb: " + "[" * 200_000, id="brackets behind a value that is refused"),
    ],
)
def test_what_is_nested_without_end_is_refused_at_once(text: str) -> None:
    with costing_at_most(30), pytest.raises(YamlError, match="exceeded max depth of 1000"):
        load_value(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("[x:, {a: y:}, 'z:']", ["x:", {"a": "y:"}, "z:"], id="a colon before a bracket is text"),
        pytest.param("{a:, b: 1}", {"a:": None, "b": 1}, id="in a key, too"),
        pytest.param("[]: x", [], id="what follows an empty list is overlooked"),
        pytest.param("{}: [", {}, id="and what follows an empty object"),
        pytest.param("a: !!timestamp 2020-01-01", {"a": "2020-01-01"}, id="a date is text"),
        pytest.param("a: &a {b: 1}\nc: *a", {"a": {"b": 1}, "c": {"b": 1}}, id="an alias"),
        pytest.param("&a\na: 1\nb: 2", {"a": 1, "b": 2}, id="an anchor of all"),
        pytest.param("a: 1\n\ufeffb: 2", {"a": 1, "\ufeffb": 2}, id="fbc.md 2.1: a byte order mark inside is text"),
        pytest.param("\ufeffa: 1", {"a": 1}, id="fbc.md 2.1: a byte order mark at the beginning is not"),
        pytest.param("a: b?c\nd: ['e?f']", {"a": "b?c", "d": ["e?f"]}, id="a question mark outside brackets"),
        pytest.param("[1.5_0, .5_0]", [1.5, ".5_0"], id="an underscore in a number that begins with a dot"),
        pytest.param("3.4028235e38: a", {"3.4028235e+38": "a"}, id="the largest key that 32 bits can hold"),
        pytest.param("1e39: a\n-1e39: b", {".inf": "a", "-.inf": "b"}, id="a key that 32 bits cannot hold"),
    ],
)
def test_where_go_and_libyaml_differ(text: str, value: object) -> None:
    assert load_value(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("[a, b]: x", "line 1: invalid map key", id="a list as the first key"),
        pytest.param("!!seq []: x", "line 1: invalid map key", id="an empty one with a tag"),
        pytest.param("a: !!timestamp noon", "cannot decode !!str `noon` as a !!timestamp", id="no date"),
        pytest.param("[" + "x:," * 60 + "]", "found unexpected ':'", id="more colons than anybody means"),
        pytest.param("[x:, \ue0fe]", "found unexpected ':'", id="a text that holds our own mark"),
        pytest.param("a:\n- {b: http://c/?d}", "line 2: did not find expected ','", id="a question mark in brackets"),
        pytest.param("{a?: b}", "line 1: did not find expected ','", id="a question mark in a key in brackets"),
        pytest.param("a: \x01", "line 1: control characters are not allowed", id="a control character"),
    ],
)
def test_where_they_do_not(text: str, message: str) -> None:
    with pytest.raises(YamlError, match=re.escape(message)):
        load_value(text)


def test_a_manifest_must_be_an_object() -> None:
    with pytest.raises(YamlError, match="wanted an object, got list"):
        load("[]")
    with pytest.raises(YamlError, match="wanted an object, got nothing"):
        load("# nothing")


@pytest.mark.parametrize(
    ("text", "documents", "error"),
    [
        pytest.param("", [], "", id="fbc.md 2.1: zero bytes"),
        pytest.param("---\na: 1\n---", [{"a": 1}], "", id="fbc.md 2.1: separators at both ends"),
        pytest.param("---\n---\na: 1", [None, {"a": 1}], "", id="fbc.md 2.1: nothing between two"),
        pytest.param("a: 1\n--- # c\nb: 2", [{"a": 1}, {"b": 2}], "", id="fbc.md 2.1: comment on a separator"),
        pytest.param("a: 1\n--- x\nb: 2", [], "invalid Yaml document separator: x", id="fbc.md 2.1: text on it"),
        pytest.param('{"a":1}{"b":2}', [{"a": 1}, {"b": 2}], "", id="fbc.md 2.1: objects in a row"),
        pytest.param('{"a":1}\n---\nb: 2', [{"a": 1}, {"b": 2}], "", id="fbc.md 2.1: YAML after one object"),
        pytest.param('{"a":1}\n\n---\nb: 2', [{"a": 1}, None, {"b": 2}], "", id="fbc.md 2.1: a blank line before it"),
        pytest.param('{"a":1}\n{"b":2}\n---\nc: 3', [{"a": 1}, {"b": 2}], "invalid character '-'", id="YAML after two"),
        pytest.param("a: 1\n---\nb: {", [{"a": 1}], "did not find", id="a broken document says why"),
        pytest.param("{schema: a}", [{"schema": "a"}], "", id="fbc.md 2.1: flow YAML"),
    ],
)
def test_a_stream_yields_its_documents_up_to_the_first_broken_one(
    text: str, documents: list[object], error: str
) -> None:
    seen, message = _read_stream(text)
    assert seen == documents
    assert error in message
    assert bool(error) == bool(message)


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(st.characters(codec="ascii", categories=["L"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="ascii", categories=["L"])), inner),
    max_leaves=20,
)


@given(_json)
def test_json_read_as_yaml_is_the_same_value(value: object) -> None:
    assert load_value("# not JSON\n" + json.dumps(value)) == value


def _cases() -> Iterator[dict[str, Any]]:
    with _CASES.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def test_every_recorded_answer_of_go_is_given() -> None:
    wrong = [case["case"] for case in _cases() if _answer(case) != (case.get("document"), "error" in case)]
    streams = [case for case in _cases() if case["case"] not in _KEPT_AS_WRITTEN]
    wrong += [case["case"] for case in streams if _stream(case) != (case["stream"], "stream_error" in case)]
    assert wrong == []


def _answer(case: dict[str, Any]) -> tuple[object, bool]:
    try:
        return load_value(case["case"]), False
    except YamlError:
        return None, True


def _stream(case: dict[str, Any]) -> tuple[list[object], bool]:
    seen, message = _read_stream(case["case"])
    return seen, bool(message)


def _read_stream(text: str) -> tuple[list[object], str]:
    seen: list[object] = []
    for part in gostream.parts(text.encode("utf-8", "surrogatepass")):
        if part.error:
            return seen, part.error
        seen.append(part.value)
    return seen, ""


@pytest.mark.parametrize(
    ("text", "go_message"),
    [
        pytest.param("a: b: c", "yaml: mapping values are not allowed in this context", id="no line before the second"),
        pytest.param("a: b\n c: d", "yaml: line 2: mapping values are not allowed in this context", id="a character"),
        pytest.param("a: [b\nc: d", "yaml: line 1: did not find expected ',' or ']'", id="the grammar: counted from 0"),
        pytest.param('a: b\nc: "\\/"', "yaml: line 2: found unknown escape character", id="an escape of JSON"),
        pytest.param("a: .inf", "json: unsupported value: +Inf", id="an error of JSON has no line"),
    ],
)
def test_the_tools_name_lines_in_their_own_way(text: str, go_message: str) -> None:
    with pytest.raises(YamlError) as caught:
        load_value(text)
    assert caught.value.go_message == go_message


def test_a_tag_without_a_name_makes_a_text() -> None:
    assert load_value('a: ! 5\nb: [! "5", ! x]\n? ! 0x1F\n: !') == {"a": "5", "b": ["5", "x"], "0x1F": ""}


@pytest.mark.parametrize("many", [10_000, 40_000])
def test_keys_are_not_merged_without_end(many: int) -> None:
    keys = "\n".join(f"  k{number}: 1" for number in range(many))
    text = f"a: &a\n{keys}\nb:\n  <<: [{', '.join(['*a'] * many)}]\n"
    with costing_at_most(20, "each of so many aliases has so many keys"), pytest.raises(YamlError, match="aliasing"):
        load(text)


def test_many_merged_keys_are_no_excess_beside_as_many_others() -> None:
    keys, others = (" ".join(f"{letter}{number}: 1," for number in range(2000)) for letter in "ko")
    merged = "\n".join(f"m{number}: {{<<: *a}}" for number in range(60))
    found = load(f"a: &a {{{keys}}}\nothers: {{{others}}}\n{merged}")
    assert found["m59"] == found["a"]
