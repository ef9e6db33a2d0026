"""Streams of documents, cut and switched as Go does."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.go import json as gojson
from shared.domain.go import stream as gostream


def no_lists(value: Any) -> str:
    return "" if value is None or isinstance(value, dict) else "no object"


def read(text: str | bytes) -> list[object]:
    """The values, and the errors as texts."""
    content = text.encode() if isinstance(text, str) else text
    return [part.error or part.value for part in gostream.parts(content, no_lists)]


A, B = {"schema": "a"}, {"schema": "b"}
FOLDED = "error unmarshaling JSON: while decoding JSON: "


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param('{"schema":"a"}\n---\nschema: b', [A, B], id="fbc.md R015: YAML after one object"),
        pytest.param('{"schema":"a"}\n\n---\nschema: b', [A, None, B], id="fbc.md R017: a blank line before it"),
        pytest.param('{"schema":"a"}---\nschema: b', [A, B], id="fbc.md R018: on the same line"),
        pytest.param("", [], id="fbc.md R020: zero bytes"),
        pytest.param("\n", [None], id="fbc.md R021: a line break"),
        pytest.param("   ", [None], id="fbc.md R021: blanks"),
        pytest.param("---", [None], id="fbc.md R021: only a separator"),
        pytest.param("schema: a\n\n", [A], id="fbc.md R022: blank lines behind YAML"),
        pytest.param("\n\n---\nschema: a", [None, A], id="fbc.md R023: blank lines before the first separator"),
        pytest.param("---\n# c\nschema: a", [A], id="fbc.md R024: a comment behind it"),
        pytest.param("---\n---\nschema: a", [None, A], id="fbc.md R025: nothing between two separators"),
        pytest.param("schema: a\n---\n---\nschema: b", [A, B], id="but not behind a document"),
        pytest.param("schema: a\n---\n---\n---\nschema: b", [A, None, B], id="unless there are three"),
        pytest.param("# c", [None], id="fbc.md R026: only comments"),
        pytest.param("schema: a\n---\nnull\n---\nschema: b", [A, None, B], id="fbc.md R027: null"),
        pytest.param("schema: a\n---\n", [A], id="fbc.md R028: a separator at the end"),
        pytest.param("schema: a\n---\n\n", [A, None], id="fbc.md R029: and a blank line"),
        pytest.param("schema: a\n--- # c\nschema: b", [A, B], id="fbc.md R030: a comment on a separator"),
        pytest.param("# lead\n---\nschema: a", [None, A], id="fbc.md R032: a comment before the first separator"),
        pytest.param("schema: a\n---  \t\nschema: b", [A, B], id="fbc.md R033: blanks on a separator"),
        pytest.param('{"schema":"a"}{"schema":"b"}', [A, B], id="fbc.md R009: objects in a row"),
        pytest.param('{"schema":"a"}\n\n  {"schema":"b"}', [A, B], id="objects on lines of their own"),
        pytest.param('{\n"schema":"a"\n}\n{\n"schema":"b"\n}\n', [A, B], id="objects as tools write them"),
        pytest.param('{\n"schema":"a"\n}\n{\n"schema":"b"} {"schema":"a"}', [A, B, A], id="objects in both ways"),
        pytest.param('{"schema":"a"}\n\n{"schema":"b"} {"schema":"a"}\n{"schema":"b"}', [A, B, A, B], id="any mixture"),
        pytest.param("{schema: a}", [A], id="YAML that begins like JSON"),
        pytest.param('{"schema":"a"}\n---\n', [A, None], id="a separator behind an object"),
        pytest.param('{"schema":"a"}\n{schema: b}', [A, B], id="YAML that looks like JSON, behind JSON"),
    ],
)
def test_documents(text: str, values: list[object]) -> None:
    assert read(text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param(
            '{"schema":"a"}\n---\n[]', [A, "json: offset 17: invalid character '-' in numeric literal"], id="R016"
        ),
        pytest.param(
            '{"a":1}\n{"a":2}\n---\n{"a":3}',
            [{"a": 1}, {"a": 2}, "invalid character '-' in numeric literal"],
            id="fbc.md R019: YAML after two objects",
        ),
        pytest.param("---\n--- foo\na: 1", ["invalid Yaml document separator: foo"], id="fbc.md R031: text on it"),
        pytest.param('{"a":1} x', [{"a": 1}, "json: offset 9: invalid character 'x' looking for beginning of value"]),
        pytest.param('{"a":1}{"a":2}[]', [{"a": 1}, {"a": 2}, "no object"], id="a list behind objects"),
        pytest.param("[]\n---\na: 1", [f"{FOLDED}no object", {"a": 1}], id="a list, and something better"),
        pytest.param("{", ["unexpected EOF"], id="half an object"),
        pytest.param(
            "a: b: c\n---\na: 1",
            ["error converting YAML to JSON: yaml: mapping values are not allowed in this context", {"a": 1}],
            id="what follows a broken document is read",
        ),
        pytest.param(b"a: \xff", ["error converting YAML to JSON: yaml: invalid leading UTF-8 octet"], id="no text"),
    ],
)
def test_documents_that_cannot_be_read(text: str | bytes, values: list[object]) -> None:
    assert read(text) == values


def test_every_document_knows_where_it_begins() -> None:
    text = '{"a":1}\n\n{"b":2}'
    assert [(part.number, part.offset) for part in gostream.parts(text.encode())] == [(1, 0), (2, 9)]
    text = "a: 1\n---\nb: 2\n---\nx: 1\nc: [\n"
    assert [(part.number, part.offset) for part in gostream.parts(text.encode())] == [(1, 0), (2, 9), (3, 28)]


def test_documents_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gojson, "LARGEST", 10)
    monkeypatch.setattr(gostream, "_LARGEST_YAML", 10)
    (found,) = read('{"a": "' + "x" * 100)
    assert "an object of more than 0 MiB" in str(found)
    assert read("aaaaaaaaa: 1\n---\nb: 1") == ["a YAML document of more than 0 MiB: write it as JSON", {"b": 1}]
