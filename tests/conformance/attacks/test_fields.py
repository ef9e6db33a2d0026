"""Every place for a text: as many as the schemas have, and each is reached."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from shared.kinds import SECRET, WATCHED
from tests.conformance.attacks.fields import (
    KINDS_OF_OTHERS,
    KINDS_OF_TENANTS,
    Place,
    found_at,
    places,
    put,
    resolved,
    schema_of,
)
from tests.conformance.attacks.shapes import SOUND

TEXTS, HOLDERS = ("string", None), ("object", "array")


def test_the_kinds_are_those_that_we_watch() -> None:
    assert {*KINDS_OF_TENANTS, *KINDS_OF_OTHERS} == {*WATCHED, SECRET}
    assert {(kind.api_version, kind.kind) for kind in KINDS_OF_TENANTS} == {
        (sound["apiVersion"], sound["kind"]) for sound in SOUND
    }


def counted(schema: Any) -> int:
    """Another way to count: the texts, keys and open ends of a schema."""
    schema = resolved(schema)
    if schema.get("type") not in HOLDERS:
        is_text = schema.get("type") == "string" or "oneOf" in schema or "int-or-string" in str(schema)
        return int(is_text)
    below = [*(schema.get("properties") or {}).values(), *filter(None, [schema.get("items")])]
    more = schema.get("additionalProperties")
    found = sum(map(counted, below)) + (1 + counted(more) if more else 0)
    is_open = schema["type"] == "object" and not more
    is_open = is_open and bool(schema.get("x-kubernetes-preserve-unknown-fields") or not schema.get("properties"))
    return found + is_open


@pytest.mark.parametrize("kind", KINDS_OF_TENANTS, ids=lambda kind: kind.kind)
def test_there_are_as_many_places_as_the_schema_has(kind: Any) -> None:
    found = [place.path for place in places() if place.kind == kind]
    assert len(found) == len(set(found)) == counted(schema_of(kind))
    assert {("metadata", "annotations", "{}"), ("metadata", "labels", "{key}")} <= set(found)
    assert ("metadata", "ownerReferences", "[]", "name") in found


def well_known() -> Iterator[tuple[str, str]]:
    yield "ClusterServiceVersion", "spec.install.spec.deployments.[].spec.selector.matchLabels.{}"
    yield "ClusterServiceVersion", "spec.install.spec.deployments.[].spec.template.metadata.annotations.{key}"
    yield "ClusterServiceVersion", "spec.customresourcedefinitions.owned.[].name"
    yield "OperatorGroup", "spec.selector.matchExpressions.[].values.[]"
    yield "Subscription", "spec.config.env.[].value"
    yield "Role", "rules.[].resourceNames.[]"
    yield "RoleBinding", "subjects.[].name"
    yield "Secret", "data.{}"


def test_what_has_to_be_among_them() -> None:
    found = {(place.kind.kind, ".".join(place.path)) for place in places()}
    assert set(well_known()) <= found


@pytest.mark.parametrize("is_fresh", [False, True])
def test_a_text_comes_to_its_place(is_fresh: bool) -> None:
    sound = {(each["apiVersion"], each["kind"]): each for each in SOUND}

    def made(place: Place) -> Any:
        found = copy.deepcopy(sound[place.kind.api_version, place.kind.kind])
        found["metadata"] = {"name": "x"}
        put(found, place, "hostile", is_fresh=is_fresh)
        return found

    assert not [str(place) for place in places() if not found_at(made(place), place.path, "hostile")]
    assert not [str(place) for place in places() if found_at(made(place), place.path, "another")]
