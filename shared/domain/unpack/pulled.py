"""A bundle image that a worker pulls itself (`OLMF_UNPACK=direct`), as its ConfigMap tells it."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Final

import orjson

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, timestamp
from shared.api.views import ConfigMap
from shared.domain.unpack.objects import Unpacking
from shared.domain.unpack.result import Broken, Pulling, is_filled
from shared.kinds import CATALOG_SOURCE

RETRY: Final = timedelta(minutes=1)
"""After a failure."""


def requested_map(desired: Unpacking) -> Manifest:
    """The empty ConfigMap that asks for the pull."""
    manifest = desired.config_map()
    manifest["metadata"]["annotations"] = {names.PULL_IMAGE: desired.path}
    return manifest


def state(desired: Unpacking, config_map: ConfigMap | None, now: datetime) -> Pulling | Broken:
    """What has come of the pull, where the ConfigMap is not filled."""
    if config_map is None or config_map.annotation(names.PULL_IMAGE) != desired.path:
        return Pulling(has_asked=False)
    left = rest(config_map, now)
    if left is None:
        return Pulling(has_asked=True)
    failure = _failure(config_map)
    return Broken(fields.text(failure, "reason"), fields.text(failure, "message"), left)


def rest(config_map: ConfigMap, now: datetime) -> timedelta | None:
    """How long after a failure it is not tried again; None: it may be."""
    failed_at = fields.moment(_failure(config_map), "at")
    left = failed_at + RETRY - now if failed_at else timedelta()
    return left if timedelta() < left <= RETRY else None


def source_of(config_map: ConfigMap) -> tuple[str, str]:
    """The image that is to be pulled, and the name of the catalog that it is for; empty when nothing is."""
    image = config_map.annotation(names.PULL_IMAGE) or ""
    catalog = next((one.name for one in config_map.owners if one.kind == CATALOG_SOURCE.kind), "")
    return ("", "") if is_filled(config_map, image) or not catalog else (image, catalog)


def filled(config_map: ConfigMap, payload: ReadOnly) -> Manifest:
    """The ConfigMap with the content of the bundle."""
    annotations = {**config_map.annotations, **payload["annotations"]}
    annotations.pop(names.PULL_FAILED, None)
    kept = {key: value for key, value in config_map.raw.items() if key != "data"}
    return {**kept, "metadata": {**config_map.metadata, "annotations": annotations},
            "binaryData": payload["binaryData"]}  # fmt: skip


def _failure(config_map: ConfigMap) -> Manifest:
    """What `failed` wrote; empty without it, and for any other text."""
    try:
        found = orjson.loads(config_map.annotation(names.PULL_FAILED) or "{}")
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def failed(reason: str, message: str, now: datetime) -> Manifest:
    """The patch that says why it could not be pulled."""
    failure = json.dumps({"reason": reason, "message": message, "at": timestamp(now)})
    return {"metadata": {"annotations": {names.PULL_FAILED: failure}}}
