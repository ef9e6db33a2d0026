"""Fields of wrong types, as a decoder of Go refuses them."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.catalog import shapes
from shared.domain.catalog.schemas import BUNDLE, PACKAGE, PROPERTY, VALUES
from shared.domain.catalog.shapes import Shape, inner_of, list_of, why_not

OWNED = "APIServiceDescription.apiServiceDefinitions.owned"


def owned(**fields: Any) -> dict[str, Any]:
    return {"apiServiceDefinitions": {"owned": [fields]}}


@pytest.mark.parametrize(
    ("shape", "value", "why"),
    [
        pytest.param(PACKAGE, [], "json: cannot unmarshal array into Go value of type declcfg.Package", id="a list"),
        pytest.param(
            PACKAGE,
            {"icon": {"base64data": 5}},
            "json: cannot unmarshal number into Go struct field Icon.icon.base64data of type []uint8",
            id="a number for bytes",
        ),
        pytest.param(PACKAGE, {"icon": {"base64data": "#"}}, "illegal base64 data at input byte 0", id="no base64"),
        pytest.param(
            PACKAGE,
            {"icon": {"base64data": [1, 300]}},
            "json: cannot unmarshal number 300 into Go struct field Icon.icon.base64data of type uint8",
            id="a number that is no byte",
        ),
        pytest.param(
            PACKAGE,
            {"NAME": 1, "description": 2},
            "json: cannot unmarshal number into Go struct field Package.name of type string",
            id="fbc.md 2.2: upper case, and the first in order",
        ),
        pytest.param(
            PACKAGE,
            {"properties": {}},
            "json: cannot unmarshal object into Go struct field Package.properties of type []property.Property",
            id="an object for a list",
        ),
        pytest.param(
            BUNDLE,
            {"properties": [None, {"type": True}]},
            "json: cannot unmarshal bool into Go struct field Property.properties.type of type string",
            id="deep in a list",
        ),
        pytest.param(
            VALUES["olm.csv.metadata"],
            {"annotations": {"b": "x", "a": 1}},
            "json: cannot unmarshal number into Go struct field CSVMetadata.annotations of type string",
            id="a map of texts",
        ),
        pytest.param(
            VALUES["olm.csv.metadata"],
            {"annotations": None, "links": None, "labels": "x"},
            "json: cannot unmarshal string into Go struct field CSVMetadata.labels of type map[string]string",
            id="a text for a map",
        ),
        pytest.param(
            VALUES["olm.csv.metadata"],
            owned(containerPort=1.5),
            f"json: cannot unmarshal number 1.5 into Go struct field {OWNED}.containerPort of type int32",
            id="a fraction for a port",
        ),
        pytest.param(
            VALUES["olm.csv.metadata"],
            owned(containerPort="x"),
            f"json: cannot unmarshal string into Go struct field {OWNED}.containerPort of type int32",
            id="a text for a port",
        ),
        pytest.param(
            VALUES["olm.csv.metadata"],
            {"installModes": [{"supported": "true"}]},
            "json: cannot unmarshal string into Go struct field InstallMode.installModes.supported of type bool",
            id="a text for a truth value",
        ),
    ],
)
def test_what_does_not_fit(shape: Shape, value: object, why: str) -> None:
    assert why_not(shape, value) == why


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        pytest.param(PACKAGE, None, id="null"),
        pytest.param(PACKAGE, {"name": None, "icon": None, "other": 3}, id="fields of null, and unknown ones"),
        pytest.param(PACKAGE, {"icon": {"base64data": [0, 255, None]}}, id="bytes as numbers"),
        pytest.param(PROPERTY, {"type": "x", "value": [{}]}, id="anything"),
        pytest.param(VALUES["olm.csv.metadata"], owned(containerPort=443.0), id="a whole number written as a fraction"),
        pytest.param(VALUES["olm.csv.metadata"], {"annotations": None, "labels": {"a": None}}, id="maps of nothing"),
        pytest.param(VALUES["olm.csv.metadata"], {"Annotations": {"a": "b"}, "x": 1}, id="another spelling"),
    ],
)
def test_what_fits(shape: Shape, value: object) -> None:
    assert why_not(shape, value) == ""


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        pytest.param(shapes.RAW, {"a": 1}, id="anything"),
        pytest.param(shapes.TEXT_MAP, {"a": "b"}, id="a map"),
        pytest.param(shapes.struct("x", "a"), {"a": None, "b": 1}, id="a struct"),
        pytest.param(shapes.TEXTS, [None, "a"], id="a list"),
        pytest.param(shapes.BYTES, "aGk=", id="bytes"),
        pytest.param(shapes.BYTES, [1, None], id="bytes as numbers"),
        pytest.param(shapes.INT32, 1, id="a number"),
        pytest.param(shapes.FLAG, True, id="a truth value"),
    ],
)
def test_there_is_no_complaint_about_what_fits(shape: Shape, value: object) -> None:
    assert list(shape.complaints(value, "X", "x")) == []


def test_every_shape_has_the_name_that_go_gives_it() -> None:
    assert shapes.RAW.go == "json.RawMessage"
    assert list_of(shapes.TEXT).go == "[]string"
    assert inner_of(shapes.TEXTS) is shapes.TEXT
    assert inner_of(shapes.TEXT) is None
    assert PACKAGE.name_of("DEFAULTCHANNEL") == "defaultChannel"
    assert PACKAGE.name_of("x") is None


@pytest.mark.parametrize(
    ("value", "content"),
    [("aGk=", b"hi"), ([104, 105.0, None], b"hi\0"), ([], b""), (None, b"")],
    ids=["base64", "numbers", "no number", "null"],
)
def test_bytes_are_written_in_two_ways(value: object, content: bytes) -> None:
    assert shapes.BYTES.fits(value)
    assert shapes.octets(value) == content


def test_fields_are_read_under_their_own_names() -> None:
    assert PACKAGE.read(None) == {}
    assert PACKAGE.read({"Name": "a", "x": 1}) == {"name": "a"}
    assert PACKAGE.read({"NAME": "a", "Name": None, "name": "c"}) == {"name": "c"}
