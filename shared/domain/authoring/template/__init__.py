"""Templates of catalogs: the short forms that people write, and from which catalogs are made (fbc.md §12)."""

from shared.domain.authoring.template.frame import SCHEMAS, Rendered, RenderImage, TemplateError, detect, images, render

__all__ = ["SCHEMAS", "RenderImage", "Rendered", "TemplateError", "detect", "images", "render"]
