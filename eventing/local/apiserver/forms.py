"""The forms of an answer: whole objects, their metadata only, or a table."""

from __future__ import annotations

from typing import Literal, TypeAlias

import orjson

from eventing.local.apiserver.resources import Resource
from eventing.local.apiserver.store import Stored
from shared.api.manifest import metadata

Form: TypeAlias = Literal["object", "metadata", "table"]


def form_of(accept: str) -> Form:
    """The form that a client prefers."""
    first = accept.partition(",")[0]
    if "as=PartialObjectMetadata" in first:
        return "metadata"
    return "table" if "as=Table" in first else "object"


def render(form: Form, resource: Resource, stored: Stored) -> bytes:
    """One object as JSON, whole or its metadata only."""
    if form != "metadata":
        return stored.at(resource.api_version)
    shown = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata(stored.manifest)}
    return orjson.dumps(shown)


def list_head(form: Form, resource: Resource) -> dict[str, str]:
    """The kind and apiVersion of a list."""
    if form == "metadata":
        return {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
    return {"kind": resource.list_kind, "apiVersion": resource.api_version}
