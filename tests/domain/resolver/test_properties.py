"""Properties of installed versions, read and written."""

from __future__ import annotations

import json

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.domain.catalog.model import Bundle, Property
from shared.domain.resolution_inputs.existing import of_csv
from shared.domain.resolver.properties import annotation


def a_csv(text: str | None = None, version: str = "1.0.0") -> Manifest:
    annotations = {} if text is None else {"operatorframework.io/properties": text}
    crd = {"name": "as.example.com", "kind": "A", "version": "v1"}
    service = {"group": "g", "kind": "B", "version": "v1", "name": "bs"}
    owned = {"customresourcedefinitions": {"owned": [crd]}, "apiservicedefinitions": {"owned": [service]}}
    return {"metadata": {"name": "a.v1", "annotations": annotations}, "spec": {"version": version, **owned}}


def test_the_annotation_is_what_counts() -> None:
    """resolver.md 2.5: present, so exactly its list."""
    assert of_csv(Csv(a_csv('{"properties":[{"type":"t","value":1}]}')), ["a"]) == (Property("t", 1),)
    assert of_csv(Csv(a_csv("{}")), ["a"]) == ()


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"properties":[1]}'])
def test_an_annotation_that_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r'failed to retrieve properties of csv "a\.v1"'):
        of_csv(Csv(a_csv(text)), [])


def test_without_annotation_the_spec_and_the_subscription_speak() -> None:
    """catalog.md 8.7.82: a CSV created by hand, its package inferred."""
    apis = [{"group": "example.com", "kind": "A", "version": "v1"}, {"group": "g", "kind": "B", "version": "v1"}]
    declared = [Property("olm.gvk", api) for api in apis]
    assert list(of_csv(Csv(a_csv()), ["a"])) == [
        *declared, Property("olm.package", {"packageName": "a", "version": "1.0.0"}),
    ]  # fmt: skip
    assert list(of_csv(Csv(a_csv()), ["a", "b"])) == declared
    assert of_csv(Csv(a_csv(version="0.0.0")), ["a"])[-1].value == {"packageName": "a", "version": ""}


def test_the_package_is_always_among_the_written_properties() -> None:
    """resolver.md 2.4: appended where no olm.package property is present."""
    written = json.loads(annotation(Bundle("a.v1", "1.0.0", "i"), "a"))
    assert written == {"properties": [{"type": "olm.package", "value": {"packageName": "a", "version": "1.0.0"}}]}
