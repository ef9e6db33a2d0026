"""What files hold, judged document by document."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from shared.domain.authoring.judging.judge import Reading
from shared.domain.catalog.meta import refusal
from shared.domain.go.stream import parts
from tests.kit.fbc import Json, a_bundle, a_channel, a_package, a_property, judged, messages, reading, written

FOLDED = "error unmarshaling JSON: while decoding JSON: "
NO_SCHEMA = "object '' is missing root schema field"


def complaints(text: str | bytes) -> list[str]:
    return [one.message for one in reading(text.encode() if isinstance(text, str) else text).findings]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        pytest.param("[This is not yaml or json.}", "error converting YAML to JSON: yaml: ", id="fbc.md R004: neither"),
        pytest.param("[]", f"{FOLDED}json: cannot unmarshal array into Go value", id="fbc.md R005: a list"),
        pytest.param("hello: world", 'object \'{"hello":"world"}\n\' is missing root schema field', id="fbc.md R006"),
        pytest.param(
            '{"schema":"olm.package","name":{}}', 'expected value for key "name" to be a string, got ', id="R007"
        ),
        pytest.param(
            '{"schema":"olm.bundle","relatedImages":{}}',
            "parse bundle: json: cannot unmarshal object into Go struct field Bundle.relatedImages of type "
            "[]declcfg.RelatedImage",
            id="fbc.md R008: related images that are no list",
        ),
        pytest.param(
            '{"b":1.0,"a":"<\u2028"}',
            'object \'{"a":"<\\u2028","b":1}\n\' is missing root schema field',
            id="fbc.md 2.2: the form of a blob",
        ),
        pytest.param("\n", NO_SCHEMA, id="fbc.md R021: a line break"),
        pytest.param("null\n---\nschema: a", NO_SCHEMA, id="fbc.md R027: null"),
        pytest.param('{"schema":"a"} null', "object 'null\n' is missing root schema field", id="null in JSON"),
        pytest.param(
            '{"schema":5}', 'expected value for key "schema" to be a string, got %!t(float64=5): 5', id="R037"
        ),
        pytest.param(
            '{"name":null}', 'expected value for key "name" to be a string, got %!t(<nil>): <nil>', id="fbc.md R038"
        ),
        pytest.param(
            "schema: olm.bundle\nimage: y",
            "parse bundle: json: cannot unmarshal bool into Go struct field Bundle.image of type string",
            id="fbc.md R039: an image that YAML takes for a boolean",
        ),
        pytest.param(
            "schema: a\nname: n",
            f'{FOLDED}expected value for key "name" to be a string, got false: false',
            id="R040, R042",
        ),
        pytest.param(
            "a: .inf", "error converting YAML to JSON: json: unsupported value: +Inf", id="fbc.md R047: infinity"
        ),
        pytest.param(
            "schema: olm.deprecations\nentries: 3",
            "parse deprecation: json: cannot unmarshal number into Go struct field Deprecation.entries of type "
            "[]declcfg.DeprecationEntry",
            id="fbc.md R049: deprecations of a wrong shape",
        ),
        pytest.param(
            "schema: olm.channel\nentries: x", "parse channel: json: cannot unmarshal string into", id="2.3: a channel"
        ),
        pytest.param(
            "schema: olm.package\nicon: {base64data: '#'}",
            "parse package: illegal base64 data at input byte 0",
            id="2.3: an icon",
        ),
        pytest.param(
            "x: " + "[" * 300 + "]" * 300, "object 'an object with the fields x' is missing root", id="too deep to tell"
        ),
    ],
)
def test_a_document_that_cannot_be_read(text: str, start: str) -> None:
    found = complaints(text)
    assert len(found) == 1
    assert found[0].startswith(start)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("", 0, id="fbc.md R020: zero bytes"),
        pytest.param('{"schema":"a"}\n\n{"schema":"b"}\n\n', 2, id="fbc.md R022: blank lines"),
        pytest.param("---\n# x\nschema: a", 1, id="fbc.md R024: a comment first"),
        pytest.param("schema: a\nschema: b", 1, id="fbc.md R034: a key twice"),
        pytest.param("SCHEMA: a\nName: b\nPACKAGE: c", 1, id="fbc.md R036: other cases"),
    ],
)
def test_documents_that_can_be_read(text: str, count: int) -> None:
    assert [part.error for part in parts(text.encode(), refusal)] == [""] * count
    assert complaints(text) == []


def test_fbc_md_r009_objects_need_nothing_between_them() -> None:
    found = reading(b'{"schema":"olm.package"}{"schema":"unexpected"}{"schema":"olm.bundle"}')
    assert (len(found.blobs.packages), len(found.blobs.bundles), found.findings) == (1, 1, [])


def test_fbc_md_r010_a_stream_of_yaml() -> None:
    found = reading(b"---\nschema: olm.package\n" + b"---\nschema: olm.bundle\n" * 6)
    assert (len(found.blobs.packages), len(found.blobs.bundles), found.findings) == (1, 6, [])


def test_fbc_md_r011_a_message_keeps_its_line_break() -> None:
    text = (
        b"schema: olm.deprecations\npackage: a\nentries:\n- message: |\n    old\n  reference: {schema: olm.package}\n"
    )
    (found,) = reading(text).blobs.deprecations
    assert [notice.message for notice in found.notices] == ["old\n"]


def test_fbc_md_r035_two_spellings_of_a_key() -> None:
    assert complaints('{"schema":"a","Schema":"b"}') == ['duplicate keys for key "schema": [Schema schema]']
    assert complaints('{"a":1,"A":1,"b":1,"B":1}') == [
        '[duplicate keys for key "a": [A a], duplicate keys for key "b": [B b]]'
    ]


def test_fbc_md_r044_unknown_fields_do_not_count() -> None:
    assert messages(a_package(foo=1), a_channel(foo=[]), a_bundle(foo={})) == []


def test_every_document_is_read_and_each_finding_has_its_place() -> None:
    found = reading(
        b"schema: olm.bundle\nimage: 1\n---\nb: [\n---\nschema: olm.package\nname: 5\n---\nschema: x\n", "a/b"
    )
    result = found.result().located(
        lambda name: b"schema: olm.bundle\nimage: 1\n---\nb: [\n---\nschema: olm.package\nname: 5\n---\nschema: x\n"
    )
    places = [(one.place.file, one.place.document, one.place.line) for one in result.findings]
    assert places == [("a/b", 1, 1), ("a/b", 2, 5), ("a/b", 3, 6)]


def test_later_files_stand_behind_earlier_ones() -> None:
    first, second = reading(written(a_package()), "a"), reading(written(a_channel(), a_bundle()), "b")
    first.extend(second)
    assert first.result().is_valid
    assert [first.blobs.packages[0].place.file, first.blobs.bundles[0].place.file] == ["a", "b"]


def test_advice_about_later_files_stands_behind_that_about_earlier_ones() -> None:
    first, second = Reading(advice=[]), Reading(advice=[])
    first.add_file("a", written(a_bundle("a.v1")))
    second.add_file("b", written(a_bundle("b.v1")))
    first.extend(second)
    assert [one.place.file for one in first.advice or ()] == ["a", "b"]


def test_statements_of_all_files_are_kept_for_whoever_compares() -> None:
    first, second = Reading(statements={}), Reading(statements={})
    first.add_file("a", written(a_package(), a_bundle("a.v1")))
    second.add_file("b", written(a_bundle("b.v1"), a_bundle("c.v1", image=1)))
    first.extend(second)
    assert sorted(first.statements or ()) == [("foo", "a.v1"), ("foo", "b.v1")]


def embedded(data: object) -> Json:
    return a_bundle("b", "1.0.0", a_property("olm.bundle.object", data=data), package="p")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(
            "???", "parse property at index 1 as bundle object: illegal base64 data at input byte 0", id="fbc.md R054"
        ),
        pytest.param(encoded("a: ["), "convert bundle object property at index 1 to JSON: yaml: line ", id="R055"),
    ],
)
def test_objects_that_cannot_be_read(data: str, why: str) -> None:
    (message,) = complaints(written(embedded(data)))
    assert message.startswith(f'read bundle objects: package "p", bundle "b": {why}')


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(encoded("a: 1"), id="fbc.md R053: YAML"),
        pytest.param(encoded('{"a"'), id="fbc.md R056: whatever begins like JSON"),
        pytest.param(encoded("kind: ClusterServiceVersion"), id="fbc.md R058: a CSV"),
        pytest.param([97, 98], id="bytes as numbers"),
        pytest.param(None, id="fbc.md R057: none"),
    ],
)
def test_objects_that_can_be_read(data: object) -> None:
    found = reading(written(embedded(data)))
    assert found.findings == []
    assert found.blobs.bundles[0].has_content


def test_an_object_without_a_value_cannot_be_read() -> None:
    (message,) = complaints(written(a_bundle("b", "1.0.0", {"type": "olm.bundle.object"}, package="p")))
    assert message.endswith("parse property at index 1 as bundle object: unexpected end of JSON input")


def test_fbc_md_2_2_of_several_spellings_the_last_by_code_point_counts() -> None:
    text = (
        '{"schema":"olm.channel","entries":[{"skiprange":"C","SkipRange":"A","skipRange":"B","Name":"n","NAME":null}]}'
    )
    (channel,) = reading(text.encode()).blobs.channels
    assert (channel.entries[0].skip_range, channel.entries[0].name) == ("C", "n")


def test_null_is_nothing_wherever_it_stands() -> None:
    entries: list[Any] = [None, {"name": None, "skips": [None]}]
    text = written(
        a_channel() | {"entries": entries}, {"schema": "olm.deprecations", "entries": [None, {"reference": None}]}
    )
    found = reading(text)
    assert [entry.skips for entry in found.blobs.channels[0].entries] == [(), ("",)]
    assert [notice.schema for notice in found.blobs.deprecations[0].notices] == ["", ""]


def test_advice_is_given_to_whoever_asks() -> None:
    asked = Reading(advice=[])
    asked.add_file("f", written(a_package(colour=1), a_channel(), a_bundle(image="quay.io/foo:1")))
    assert {one.rule for one in asked.all_advice()} == {"unknown-field", "unpinned-image"}
    assert reading(written(a_package(colour=1))).all_advice() == []


def test_a_large_channel_is_judged_in_a_moment() -> None:
    names = [f"foo.v{number}" for number in range(20_000)]
    entries = [{"name": name, "replaces": before} for name, before in zip(names, ["", *names], strict=False)]
    found = judged(a_package(), a_channel() | {"entries": entries}).findings
    assert found[0].message.startswith('no olm.bundle blobs found in package "foo"')
