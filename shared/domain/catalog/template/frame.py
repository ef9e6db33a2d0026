"""The kinds of templates, by the schema of their first document (fbc.md §12.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from shared.domain.catalog.config import Config
from shared.domain.catalog.template import basic, semver, substitutes
from shared.domain.catalog.template.source import Rendered, RenderImage, TemplateError, schema_of

__all__ = ["SCHEMAS", "Rendered", "TemplateError", "detect", "render"]

_Render: TypeAlias = Callable[[bytes, RenderImage], Config]
_RENDERERS: Final[Mapping[str, _Render]] = {one.SCHEMA: one.render for one in (basic, semver, substitutes)}
SCHEMAS: Final[Mapping[str, str]] = dict(sorted((schema.rpartition(".")[2], schema) for schema in _RENDERERS))
"""The schema of each type of template, by the name of the type."""


def detect(content: bytes) -> str:
    """The schema of a template. TemplateError when it is not one of ours."""
    schema = schema_of(content)
    if schema not in _RENDERERS:
        raise TemplateError(f"unknown template schema: {schema}")
    return schema


def render(content: bytes, schema: str, render_image: RenderImage) -> Config:
    """The catalog that a template of a schema stands for. TemplateError."""
    return _RENDERERS[schema](content, render_image)
