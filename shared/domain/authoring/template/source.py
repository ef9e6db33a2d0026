"""Reads the document of any template, and the entries that it lists (fbc.md §12.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from shared.domain.catalog import shapes
from shared.domain.catalog.blobs import Unreadable
from shared.domain.catalog.config import Blob, Config
from shared.domain.catalog.meta import meta_of, refusal
from shared.domain.go import stream as gostream
from shared.domain.go.text import quoted


class TemplateError(ValueError):
    """A template cannot be rendered; the message says why, from the outside in."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """The `olm.bundle` of an image, and its ClusterServiceVersion."""

    bundle: Blob
    csv: Mapping[str, Any] | None = None  # why: any JSON values


RenderImage: TypeAlias = Callable[[str], list[Rendered]]
"""Returns the bundles in an image, normally one; raises the errors of the caller who fetches it."""

_SCHEMA: Final = shapes.struct("struct", "schema")
METAS: Final = shapes.list_of(shapes.raw("*declcfg.Meta"))
_ENTRIES: Final = shapes.struct("basic.BasicTemplateData", "schema", entries=METAS)


def first_document(content: bytes, *, what: str = "decoding template schema") -> Any:  # why: any JSON value
    """The value of the first document. TemplateError without one."""
    part = next(gostream.parts(content), None)
    if part is None:
        raise TemplateError(f"{what}: EOF")
    if part.error:
        raise TemplateError(f"{what}: {part.error}")
    return part.value


def schema_of(content: bytes) -> str:
    """The schema that the first document names. TemplateError when it names none."""
    value = first_document(content, what="decoding template input")
    if why := shapes.why_not(_SCHEMA, value):
        raise TemplateError(f"unmarshalling template schema: {why}")
    schema = str(_SCHEMA.read(value).get("schema") or "")
    if not schema:
        raise TemplateError("template input missing required 'schema' field")
    return schema


def parsed(content: bytes, schema: str, shape: shapes.Struct = _ENTRIES) -> Blob:
    """The fields of a template that lists documents of a catalog. TemplateError for another schema or shape."""
    value = first_document(content)
    if why := shapes.why_not(shape, value):
        raise TemplateError(f"unmarshalling template: {why}")
    fields = shape.read(value)
    for entry in fields.get("entries") or ():
        if why := refusal(entry):
            raise TemplateError(f"unmarshalling template: {why}")
    found = fields.get("schema") or ""
    if found != schema:
        raise TemplateError(f"template has unknown schema ({quoted(found)}), should be {quoted(schema)}")
    return fields


def entries_of(fields: Blob) -> Config:
    """The documents that a template lists. TemplateError when one of them is not valid."""
    config = Config()
    for entry in fields.get("entries") or ():
        try:
            config.add(meta_of(entry))
        except Unreadable as error:
            raise TemplateError(str(error)) from error
    return config
