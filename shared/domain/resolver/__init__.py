"""Which bundles a namespace gets, and why: `resolve(Inputs) -> Resolution`."""

from shared.domain.resolver.model import (
    Catalog,
    CatalogKey,
    Chosen,
    Component,
    Inputs,
    Installed,
    Refusal,
    Resolution,
    Subscriber,
)
from shared.domain.resolver.resolve import resolve

__all__ = [
    "Catalog", "CatalogKey", "Chosen", "Component", "Inputs", "Installed", "Refusal", "Resolution", "Subscriber",
    "resolve",
]  # fmt: skip
