"""The order of properties and related images in a rendered bundle (fbc.md §10.3)."""

from __future__ import annotations

from collections.abc import Mapping

from shared.domain.catalog.config import Blob, Config
from shared.domain.catalog.documents import HEAVY


def arrange(config: Config) -> None:
    """Put properties that describe a bundle behind the others, and sort its related images."""
    config.bundles = [_arranged(bundle) for bundle in config.bundles]


def _arranged(bundle: Blob) -> Blob:
    changed = dict(bundle)
    if "properties" in bundle:
        changed["properties"] = sorted(bundle["properties"], key=_is_heavy)
    if "relatedImages" in bundle:
        changed["relatedImages"] = sorted(bundle["relatedImages"], key=_image)
    return changed


def _is_heavy(one: Mapping[str, object]) -> bool:
    return one["type"] in HEAVY


def _image(one: Mapping[str, str]) -> str:
    return one["image"]
