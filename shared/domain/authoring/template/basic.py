"""The basic template: a catalog whose bundles are only images (fbc.md §12.2)."""

from __future__ import annotations

from typing import Final

from shared.domain.authoring.template.source import RenderImage, TemplateError, entries_of, parsed
from shared.domain.catalog.config import Blob, Config

SCHEMA: Final = "olm.template.basic"
_DERIVED: Final = ("package", "properties", "relatedImages")
"""Fields of a bundle that its image decides."""


def render(content: bytes, render_image: RenderImage) -> Config:
    """The catalog of a template; it is not validated. TemplateError."""
    config = entries_of(parsed(content, SCHEMA))
    for bundle in config.bundles:
        _check(bundle)
    config.bundles = [found.bundle for bundle in config.bundles for found in render_image(bundle["image"])]
    return config


def images(content: bytes) -> list[str]:
    """The images that a template is made from. TemplateError."""
    return [bundle["image"] for bundle in entries_of(parsed(content, SCHEMA)).bundles]


def _check(bundle: Blob) -> None:
    if not bundle["image"] or any(field in bundle for field in _DERIVED):
        raise TemplateError("unexpected fields present in basic template bundle")
