"""Catalogs and bundles from images, kept by digest."""

from shared.adapters.content.bundles import ImageBundles
from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.pulling import Puller, Secrets
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.store import Store

__all__ = ["ImageBundles", "ImageCatalogs", "Puller", "Secrets", "Snapshot", "Store", "snapshot_of"]
