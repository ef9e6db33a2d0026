"""Whether an object fits a schema, in the words of the API server (catalog.md §4.8)."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.crd_safety.fitting import defects

Schema = dict[str, Any]
TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
WRONG = "a in body must be of type"


def defects_of(schema: Schema, value: object) -> list[str]:
    """About the field `a` of an object."""
    return list(map(str, defects({"a": value}, {"properties": {"a": schema}})))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, object),
        (TEXT, "x"),
        (WHOLE, 1),
        (WHOLE, 1.0),
        ({"type": "number"}, 1),
        ({"type": "number"}, 10**20),
        ({"type": "boolean"}, True),
        ({"type": "array"}, [None]),
        ({"type": "object"}, {"x": None}),
        (TEXT | {"nullable": True}, None),
        ({"nullable": True}, None),
        ({"x-kubernetes-int-or-string": True}, "5%"),
        ({"x-kubernetes-int-or-string": True}, 5),
        ({"x-kubernetes-int-or-string": True, "type": "integer", "format": "byte"}, 5),
        (TEXT | {"format": "nonsense"}, "x"),
        (WHOLE | {"format": "date"}, 1),
        (TEXT | {"format": "date"}, []),
        (WHOLE | {"format": "int32"}, 2**31 - 1),
        ({"type": "number", "format": "float"}, 3.4e38),
        (TEXT | {"minLength": 1, "maxLength": 1, "pattern": "^[[:lower:]]\\z"}, "x"),
        (TEXT | {"pattern": "[$]$"}, "a$"),
        (TEXT | {"pattern": r"^\pL+$"}, "é"),
        (TEXT | {"pattern": "("}, "a pattern that is none refuses nothing"),
        ({"minimum": 1, "maximum": 1, "multipleOf": 1}, 1),
        ({"multipleOf": 0.5}, 1.5),
        ({"enum": [1, "x"]}, 1),
        ({"minItems": 1, "maxItems": 1, "uniqueItems": True, "items": WHOLE}, [1]),
        ({"minProperties": 1, "maxProperties": 1, "additionalProperties": TEXT}, {"x": "y"}),
        ({"additionalProperties": True}, {"x": 1}),
        ({"properties": {"x": None}, "required": ["x"]}, {"x": 1}),
        ({"anyOf": [WHOLE, TEXT]}, "x"),
        ({"oneOf": [WHOLE, TEXT]}, "x"),
        ({"allOf": [WHOLE, {"minimum": 3}], "not": {"enum": [7]}}, 5),
    ],
)
def test_what_fits(schema: Schema, value: object) -> None:
    assert defects_of(schema, "anything" if value is object else value) == []


@pytest.mark.parametrize(
    ("schema", "value", "want"),
    [
        (TEXT, None, f'[].a: Invalid value: "null": {WRONG} string: "null"'),
        (TEXT, 1, f'[].a: Invalid value: "integer": {WRONG} string: "integer"'),
        (WHOLE, True, f'[].a: Invalid value: "boolean": {WRONG} integer: "boolean"'),
        (WHOLE, [], f'[].a: Invalid value: "array": {WRONG} integer: "array"'),
        (WHOLE, {}, f'[].a: Invalid value: "object": {WRONG} integer: "object"'),
        ({"type": "boolean"}, 1.5, f'[].a: Invalid value: "number": {WRONG} boolean: "number"'),
        ({"x-kubernetes-int-or-string": True}, True,
         f'[].a: Invalid value: "boolean": {WRONG} integer,string: "boolean"'),
        (TEXT | {"format": "date"}, 1, f'[].a: Invalid value: "int64": {WRONG} date: "int64"'),
        (TEXT | {"format": "date"}, True, f'[].a: Invalid value: "": {WRONG} date: ""'),
        (TEXT | {"format": "date"}, "2020-13-01", f'[].a: Invalid value: "2020-13-01": {WRONG} date: "2020-13-01"'),
        (TEXT | {"maxLength": 1}, "xy", "[].a: Too long: may not be more than 1 byte"),
        (TEXT | {"maxLength": 2}, "xyz", "[].a: Too long: may not be more than 2 bytes"),
        (TEXT | {"minLength": 2}, "x", '[].a: Invalid value: "x": a in body should be at least 2 chars long'),
        (TEXT | {"pattern": "^((?i)sun)day$"}, "x",
         '[].a: Invalid value: "x": a in body should match \'^((?i)sun)day$\''),
        (TEXT | {"pattern": "^x$"}, "x\n", '[].a: Invalid value: "x\\n": a in body should match \'^x$\''),
        ({"minimum": 3}, 2, "[].a: Invalid value: 2: a in body should be greater than or equal to 3"),
        ({"minimum": 2, "exclusiveMinimum": True}, 2, "[].a: Invalid value: 2: a in body should be greater than 2"),
        ({"maximum": 9}, 10, "[].a: Invalid value: 10: a in body should be less than or equal to 9"),
        ({"maximum": 2.5, "exclusiveMaximum": True}, 2.5,
         "[].a: Invalid value: 2.5: a in body should be less than 2.5"),
        ({"multipleOf": 2}, 3, "[].a: Invalid value: 3: a in body should be a multiple of 2"),
        ({"multipleOf": 0.5}, 1.25, "[].a: Invalid value: 1.25: a in body should be a multiple of 0.5"),
        ({"multipleOf": 0.5}, 1, "[].a: Invalid value: 0: factor MultipleOf declared for a must be positive: 0"),
        (WHOLE | {"format": "int32"}, 2**31,
         '[]: Invalid value: "": Checked value must be of type integer with format int32 in a'),
        (WHOLE | {"maximum": 1.5}, 1,
         '[]: Invalid value: "": Maximum boundary value must be of type integer (default format) in a'),
        (WHOLE | {"multipleOf": 0.5}, 1,
         '[]: Invalid value: "": MultipleOf value must be of type integer (default format) in a'),
        ({"enum": ["x", 1, None]}, "z", '[].a: Unsupported value: "z": supported values: "x", "1", "null"'),
        ({"enum": ["x"], "nullable": True}, None, '[].a: Unsupported value: null: supported values: "x"'),
        ({"enum": ["x"]}, {"b": True}, '[].a: Unsupported value: {"b":true}: supported values: "x"'),
        ({"enum": ["x"]}, False, '[].a: Unsupported value: false: supported values: "x"'),
        ({"minItems": 2}, [1], "[].a: Invalid value: 1: a in body should have at least 2 items"),
        ({"maxItems": 1}, [1, 2], "[].a: Too many: 2: must have at most 1 item"),
        ({"uniqueItems": True}, [1, 1], '[].a: Invalid value: "": a in body shouldn\'t contain duplicates'),
        ({"items": TEXT}, ["x", 1],
         '[].a[1]: Invalid value: "integer": a[1] in body must be of type string: "integer"'),
        ({"minProperties": 1}, {}, "[].a: Invalid value: 0: a in body should have at least 1 properties"),
        ({"maxProperties": 0}, {"x": 1}, "[].a: Too many: 1: must have at most 0 items"),
        ({"additionalProperties": False}, {"x": 1}, '[].a: Invalid value: "x": a.x in body is a forbidden property'),
        ({"additionalProperties": TEXT}, {"x": 1},
         '[].a.x: Invalid value: "integer": a.x in body must be of type string: "integer"'),
        ({"required": ["x"]}, {}, "[].a.x: Required value"),
        ({"not": TEXT}, "x", '[]: Invalid value: "": "a" must not validate the schema (not)'),
        ({"oneOf": [TEXT, {}]}, "x",
         '[]: Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives'),
    ],
)  # fmt: skip
def test_what_does_not_fit(schema: Schema, value: object, want: str) -> None:
    """catalog.md 8.11.133: the messages of the API server."""
    assert defects_of(schema, value) == [want]


def test_of_alternatives_the_closest_is_reported() -> None:
    far, near = {"type": "integer"}, {"type": "string", "maxLength": 1}
    assert defects_of({"anyOf": [far, near]}, "xy") == [
        '[]: Invalid value: "": "a" must validate at least one schema (anyOf)',
        "[].a: Too long: may not be more than 1 byte",
    ]
    assert defects_of({"oneOf": [far, near]}, "xy") == [
        '[]: Invalid value: "": "a" must validate one and only one schema (oneOf). Found none valid',
        "[].a: Too long: may not be more than 1 byte",
    ]


def test_what_must_hold_together_is_reported_with_its_parts() -> None:
    tail = '[]: Invalid value: "": "a" must validate all the schemas (allOf)'
    assert defects_of({"allOf": [{"maximum": 1}, {}]}, 2)[-1] == tail
    assert defects_of({"allOf": [{"maximum": 1}]}, 2) == [
        "[].a: Invalid value: 2: a in body should be less than or equal to 1",
        f"{tail}. None validated",
    ]


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("byte", "aGk=", "a"),
        ("cidr", "10.0.0.0/8", "10.0.0.0"),
        ("date", "2020-02-29", "2020-2-9"),
        ("date-time", "2020-01-02T03:04:05.5Z", "2020-01-02T25:04:05Z"),
        ("hexcolor", "#fff", "#ff"),
        ("ipv4", "1.2.3.4", "::1"),
        ("ipv6", "::1", "1.2.3.4"),
        ("ssn", "123-45-6789", "123"),
        ("uuid4", "12345678-1234-4234-8234-123456789012", "12345678-1234-1234-8234-123456789012"),
    ],
)
def test_formats(form: str, good: str, bad: str) -> None:
    schema = TEXT | {"format": form}
    assert defects_of(schema, good) == []
    assert defects_of(schema, bad) == [f'[].a: Invalid value: "{bad}": a in body must be of type {form}: "{bad}"']


def test_a_format_that_is_not_checked_takes_any_text() -> None:
    assert defects_of(TEXT | {"format": "uri"}, "no uri") == []
