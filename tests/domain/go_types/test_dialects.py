"""Objects as encoding/json and the converter of unstructured objects read them."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.domain.go_types.dialects import CONVERTER, JSON
from shared.domain.go_types.engine import MisfitError, reader


@pytest.mark.parametrize(
    ("given", "desired"),
    [
        pytest.param({"KEY": "a"}, {"key": "a"}, id="names are the same in upper case"),
        pytest.param({"KEY": "a", "key": "b"}, {"key": "b"}, id="the last key counts"),
        pytest.param({"KEY": "a", "key": ""}, {}, id="also when it is empty"),
        pytest.param({"KEY": "a", "key": None}, {"key": "a"}, id="null takes back no text"),
        pytest.param({"TOLERATIONSECONDS": 1, "tolerationSeconds": 2.0}, {"tolerationSeconds": 2}, id="whole numbers"),
        pytest.param({"TOLERATIONSECONDS": 1, "tolerationSeconds": None}, {}, id="null takes back what may be absent"),
    ],
)
def test_json_reads_keys_in_their_order(given: dict[str, Any], desired: dict[str, Any]) -> None:
    assert JSON.read(given, "Toleration") == desired


@pytest.mark.parametrize(
    ("given", "desired"),
    [
        pytest.param({"KEY": "a", "operator": "Exists"}, {"operator": "Exists"}, id="names have one spelling"),
        pytest.param({"key": ""}, {}, id="empty fields are left out"),
        pytest.param({"tolerationSeconds": 0}, {"tolerationSeconds": 0}, id="what may be absent is there when stated"),
        pytest.param({"tolerationSeconds": 2**63}, {"tolerationSeconds": -(2**63)}, id="integers run over"),
    ],
)
def test_the_converter_takes_names_as_they_are(given: dict[str, Any], desired: dict[str, Any]) -> None:
    assert CONVERTER.read(given, "Toleration") == desired


def test_a_type_is_read_for_the_first_time_by_several_threads() -> None:
    """Who renders several bundles at a time shares what has been learned of a type."""
    template = {"spec": {"containers": [{"name": "a", "livenessProbe": {"exec": {"command": ["x"]}}}]}}
    desired = JSON.read(template, "PodTemplateSpec")
    interval, together = sys.getswitchinterval(), threading.Barrier(4)

    def read(_: int) -> object:
        together.wait()
        return JSON.read(template, "PodTemplateSpec")

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for _ in range(50):
                reader.cache_clear()
                assert list(pool.map(read, range(4))) == [desired] * 4
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("value", [0, "", False, {}, []])
def test_any_json_that_is_stated_stays(value: object) -> None:
    assert CONVERTER.read({"path": "a", "value": value}, "Descriptor") == {"path": "a", "value": value}
    assert CONVERTER.read({"path": "a", "value": None}, "Descriptor") == {"path": "a"}


@pytest.mark.parametrize(
    ("given", "desired"),
    [
        pytest.param({"items": 5}, {"items": None}, id="a number is no schema and no list"),
        pytest.param({"items": []}, {"items": None}, id="no schemas"),
        pytest.param({"items": [{"type": "string"}]}, {"items": [{"type": "string"}]}, id="a list of schemas"),
        pytest.param({"items": {"maxLength": 1.0}}, {"items": {"maxLength": 1}}, id="a schema"),
        pytest.param({"items": {"TYPE": "string"}}, {"items": {}}, id="a schema with another spelling"),
        pytest.param(
            {"items": {"maximum": "x", "Maximum": 1}},
            "json: cannot unmarshal string into Go struct field JSONSchemaProps.maximum of type float64",
            id="what the converter refuses is judged by JSON",
        ),
        pytest.param({"additionalProperties": False}, {"additionalProperties": False}, id="a boolean"),
        pytest.param({"dependencies": {"a": ["b"], "c": 5}}, {"dependencies": {"a": ["b"], "c": None}}, id="texts"),
    ],
)
def test_a_schema_may_have_another_form(given: dict[str, Any], desired: dict[str, Any] | str) -> None:
    if isinstance(desired, str):
        with pytest.raises(MisfitError) as refused:
            CONVERTER.read(given, "JSONSchemaProps")
        assert str(refused.value) == desired
    else:
        assert CONVERTER.read(given, "JSONSchemaProps") == desired


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2020-02-30T00:00:00Z"])
def test_a_time_that_is_in_no_calendar_is_refused(text: str) -> None:
    with pytest.raises(MisfitError) as refused:
        JSON.read({"creationTimestamp": text}, "ObjectMeta")
    assert str(refused.value) == f'parsing time "{text}": day out of range'


@pytest.mark.parametrize(
    ("given", "name", "field"),
    [
        pytest.param(
            {"ownerReferences": [{}, {"uid": 7}]}, "ObjectMeta", "OwnerReference.at.ownerReferences.uid", id="a list"
        ),
        pytest.param({"labels": {"a": 7}}, "ObjectMeta", "ObjectMeta.at.labels", id="a map"),
        pytest.param(
            {"not": {"items": {"id": 7}}}, "JSONSchemaProps", "JSONSchemaProps.at.not.items.id", id="another form"
        ),
    ],
)
def test_a_refusal_of_json_names_the_innermost_type_and_the_whole_path(given: Any, name: str, field: str) -> None:
    with pytest.raises(MisfitError) as refused:
        JSON.read(given, name, "at")
    assert str(refused.value) == f"json: cannot unmarshal number into Go struct field {field} of type string"


def test_json_judges_the_outermost_schema_however_deep_the_misfit_is() -> None:
    deep: dict[str, Any] = {"maximum": "x"}
    for _ in range(50):
        deep = {"items": deep}
    with pytest.raises(MisfitError) as by_json:
        JSON.read(deep["items"], "JSONSchemaProps")
    with pytest.raises(MisfitError) as by_converter:
        CONVERTER.read(deep, "JSONSchemaProps")
    assert str(by_converter.value) == str(by_json.value)
