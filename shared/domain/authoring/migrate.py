"""Migrations of a catalog: from embedded manifests to a description of the version (fbc.md §10.5)."""

from __future__ import annotations

from typing import Final

from shared.domain.authoring.bundles.render import csv_metadata
from shared.domain.authoring.identity import csv_of
from shared.domain.catalog.config import Blob, Config
from shared.domain.catalog.model import BUNDLE_OBJECT, CSV_METADATA
from shared.domain.go.text import quoted

_NONE: Final = "none"
_ALL: Final = "all"
_DESCRIBE: Final = "bundle-object-to-csv-metadata"
_LEVELS: Final = (_NONE, _DESCRIBE)
"""In the order in which they run; a level runs all before it, too."""


class UnknownLevel(ValueError):
    """There is no such migration."""


def check_level(level: str) -> None:
    """UnknownLevel when there is no such level; an empty level means no migration."""
    if level not in ("", _ALL, *_LEVELS):
        raise UnknownLevel(f"unknown migration level {quoted(level)}")


def migrate(config: Config, level: str) -> None:
    """Bring a catalog to a level. UnknownLevel, or MisfitError when a ClusterServiceVersion cannot be read."""
    check_level(level)
    if level in (_ALL, _DESCRIBE):
        config.bundles = [_described(bundle) for bundle in config.bundles]


def _described(bundle: Blob) -> Blob:
    """The bundle with `olm.csv.metadata` in place of its manifests, which are in its image."""
    properties = bundle.get("properties", [])
    if not bundle["image"] or any(one["type"] == CSV_METADATA for one in properties):
        return bundle
    csv = csv_of(bundle)
    if csv is None:
        return bundle
    kept = [one for one in properties if one["type"] != BUNDLE_OBJECT]
    return {**bundle, "properties": [*kept, {"type": CSV_METADATA, "value": csv_metadata(csv)}]}
