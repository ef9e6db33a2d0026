"""Turns a catalog into a template that renders to it (`opm alpha convert-template`, fbc.md §12.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from shared.domain.authoring.template import basic, substitutes
from shared.domain.authoring.template.source import TemplateError
from shared.domain.authoring.writing.write import Form
from shared.domain.authoring.writing.write_yaml import to_yaml
from shared.domain.catalog import schemas, shapes
from shared.domain.catalog.config import Blob
from shared.domain.catalog.meta import Meta, meta_of, refusal
from shared.domain.go import stream as gostream
from shared.domain.go.encode import indented_json, ordered

TYPES: Final = ("basic", "substitutes")


def convert(files: Iterable[tuple[str, bytes]], kind: str) -> Blob:
    """The template of a type that lists the documents of a catalog. TemplateError when it is no catalog."""
    entries = [_entry(meta, kind) for name, content in files for meta in _metas(name, content)] or None
    if kind == "basic":
        return {"schema": basic.SCHEMA, "entries": entries}
    return {"schema": substitutes.SCHEMA, "entries": entries, "substitutions": []}


def text(template: Blob, form: Form) -> bytes:
    """The template as `opm` prints it: JSON fit for HTML, or YAML with an empty line at its end."""
    if form is Form.JSON:
        return indented_json(template, escapes_html=True)
    return f"---\n{to_yaml(template)}\n".encode("utf-8", "replace")


def _metas(name: str, content: bytes) -> Iterator[Meta]:
    for part in gostream.parts(content, refusal):
        if part.error:
            raise TemplateError(f"{part.error} ({name}, document {part.number})")
        meta = meta_of(part.value)
        if not meta.schema:
            raise TemplateError(f"object is missing root schema field ({name}, document {part.number})")
        yield meta


def _entry(meta: Meta, kind: str) -> Blob:
    if kind != "basic" or meta.schema != "olm.bundle":
        return ordered(meta.fields)  # type: ignore[no-any-return]  # why: an object stays one
    if why := shapes.why_not(schemas.BUNDLE, meta.fields):
        raise TemplateError(f"parse bundle: {why}")
    return {"schema": meta.schema, "image": schemas.BUNDLE.read(meta.fields).get("image") or ""}
