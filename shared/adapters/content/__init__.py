"""Catalogs and bundles from images and folders, kept by digest; each name is imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from shared.adapters.content.bundles import ImageBundles
    from shared.adapters.content.catalogs import ImageCatalogs
    from shared.adapters.content.folders import snapshot_of
    from shared.adapters.content.pulling import Puller, Secrets
    from shared.adapters.content.snapshot import Snapshot
    from shared.adapters.content.store import Store

__all__ = ["ImageBundles", "ImageCatalogs", "Puller", "Secrets", "Snapshot", "Store", "snapshot_of"]

_HOMES: Final = {
    "ImageBundles": "bundles",
    "ImageCatalogs": "catalogs",
    "Puller": "pulling",
    "Secrets": "pulling",
    "Snapshot": "snapshot",
    "Store": "store",
    "snapshot_of": "folders",
}


def __getattr__(name: str) -> object:
    """Import a name from its module when it is first used: a verb that reads a folder needs no client of registries."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
