"""The kinds of templates, by the schema of their first document (fbc.md §12.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from shared.domain.authoring.template import basic, semver, substitutes
from shared.domain.authoring.template.source import Rendered, RenderImage, TemplateError, schema_of
from shared.domain.catalog.config import Config

__all__ = ["SCHEMAS", "RenderImage", "Rendered", "TemplateError", "detect", "images", "render"]

_Render: TypeAlias = Callable[[bytes, RenderImage], Config]
_KINDS: Final = (basic, semver, substitutes)
_RENDERERS: Final[Mapping[str, _Render]] = {one.SCHEMA: one.render for one in _KINDS}
_IMAGES: Final[Mapping[str, Callable[[bytes], list[str]]]] = {one.SCHEMA: one.images for one in _KINDS}
SCHEMAS: Final[Mapping[str, str]] = dict(sorted((schema.rpartition(".")[2], schema) for schema in _RENDERERS))
"""The schema of each type of template, by the name of the type."""


def detect(content: bytes) -> str:
    """The schema of a template. TemplateError when it is not one of ours."""
    schema = schema_of(content)
    if schema not in _RENDERERS:
        raise TemplateError(f"unknown template schema: {schema}")
    return schema


def render(content: bytes, schema: str, render_image: RenderImage) -> Config:
    """The catalog of a template of a schema. TemplateError."""
    return _RENDERERS[schema](content, render_image)


def images(content: bytes, schema: str) -> list[str]:
    """The images that rendering a template will need; none when it cannot be rendered."""
    try:
        return _IMAGES[schema](content)
    except TemplateError:
        return []
