"""Properties of installed versions, and requirements that cannot be read."""

from __future__ import annotations

import json

import pytest

from shared.api.manifest import Manifest
from shared.domain.catalog.model import Bundle, Property
from shared.domain.resolver.properties import annotation, of_csv
from shared.domain.resolver.requirements import Provided, provided, required
from shared.domain.resolver.versions import is_in_range


def a_csv(text: str | None = None, version: str = "1.0.0") -> Manifest:
    annotations = {} if text is None else {"operatorframework.io/properties": text}
    crd = {"name": "as.example.com", "kind": "A", "version": "v1"}
    service = {"group": "g", "kind": "B", "version": "v1", "name": "bs"}
    owned = {"customresourcedefinitions": {"owned": [crd]}, "apiservicedefinitions": {"owned": [service]}}
    return {"metadata": {"name": "a.v1", "annotations": annotations}, "spec": {"version": version, **owned}}


def test_the_annotation_is_what_counts() -> None:
    """resolver.md 2.5: present, so exactly its list."""
    assert of_csv(a_csv('{"properties":[{"type":"t","value":1}]}'), ["a"]) == (Property("t", 1),)
    assert of_csv(a_csv("{}"), ["a"]) == ()


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"properties":[1]}', '{"properties":[{}]}'])
def test_an_annotation_that_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r'failed to retrieve properties of csv "a\.v1"'):
        of_csv(a_csv(text), [])


def test_without_annotation_the_spec_and_the_subscription_speak() -> None:
    """catalog.md 8.7.82: a CSV created by hand, its package inferred."""
    apis = [{"group": "example.com", "kind": "A", "version": "v1"}, {"group": "g", "kind": "B", "version": "v1"}]
    stated = [Property("olm.gvk", api) for api in apis]
    assert list(of_csv(a_csv(), ["a"])) == [
        *stated, Property("olm.package", {"packageName": "a", "version": "1.0.0"}),
    ]  # fmt: skip
    assert list(of_csv(a_csv(), ["a", "b"])) == stated
    assert of_csv(a_csv(version="0.0.0"), ["a"])[-1].value == {"packageName": "a", "version": ""}


def test_the_package_is_always_among_the_written_properties() -> None:
    """resolver.md 2.4: appended where no olm.package property is present."""
    written = json.loads(annotation(Bundle("a.v1", "1.0.0", "i"), "a"))
    assert written == {"properties": [{"type": "olm.package", "value": {"packageName": "a", "version": "1.0.0"}}]}


@pytest.mark.parametrize(
    "stated",
    [
        pytest.param(Property("olm.gvk.required", 5), id="a requirement that is no object"),
        pytest.param(Property("olm.constraint", {"all": []}), id="a compound constraint that is no object"),
        pytest.param(Property("olm.package.required", {"packageName": "a"}), id="resolver.md 4.2: a missing range"),
    ],
)
def test_a_requirement_that_cannot_be_read_is_an_error(stated: Property) -> None:
    with pytest.raises(ValueError, match=r"^(property|Last element)"):
        required([stated])


def test_a_label_is_a_fact_like_any_other() -> None:
    [wanted] = required([Property("olm.label.required", {"label": "fast"})])
    assert wanted.is_met_by(provided("x", [Property("olm.label", {"label": "fast"})]))
    assert not wanted.is_met_by(provided("x", [Property("olm.label", {"label": "slow"})]))


def test_a_negation_filters_a_single_provider() -> None:
    """resolver.md 4.3: an entry passing none of the elements."""
    package = {"package": {"packageName": "b", "versionRange": ">=1.0.0"}}
    [wanted] = required([Property("olm.constraint", {"not": {"constraints": [package]}})])
    assert wanted.is_met_by(Provided("x"))
    assert not wanted.is_met_by(Provided("b", packages=(("b", "1.0.0"),)))


def test_a_text_that_is_no_version_lies_in_no_range() -> None:
    assert not is_in_range("latest", ">=0.0.1")
    assert is_in_range("1.2.3", ">=1.0.0 <2.0.0")
