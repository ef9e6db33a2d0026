"""The ConfigMap of a CatalogSource: whose it is, and what the status says of it (catalog.md §2.3-2)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, timestamp
from shared.api.views import CatalogSource, ConfigMap
from shared.domain import catalog_source
from shared.domain.objects.ownership import reference_to
from shared.kinds import CATALOG_SOURCE, CONFIG_MAP

TYPES: Final = ("configmap", "internal")
"""The types of a CatalogSource whose content is in a ConfigMap."""
ERROR: Final = "ConfigMapError"
SOON, RARELY = timedelta(seconds=15), timedelta(minutes=5)


def awaited(source: CatalogSource) -> str:
    """The name of the ConfigMap that the catalog waits for; empty when it has one, or needs none."""
    waits = source.type in TYPES and source.reason == ERROR
    return source.config_map if waits and CONFIG_MAP.ref_or_none(source.config_map, source.namespace) else ""


def looked_for_after(status: ReadOnly, now: datetime) -> timedelta:
    """How long until it is looked for again where nobody tells of it: at first soon, then less and less often."""
    since = fields.moment(status, "connectionState", "lastConnect") or now
    return min(max(SOON, now - since), RARELY)


def adopted(config_map: ConfigMap, source: CatalogSource) -> Manifest:
    """The patch that lets its changes be seen, and lets it go with its catalog, as in OLM; empty when it has both."""
    patch: Manifest = {}
    if config_map.labels.get(names.MANAGED) != "true":
        patch["labels"] = {names.MANAGED: "true"}
    owners = fields.parts(config_map.metadata, "ownerReferences")
    others = [dict(one) for one in owners if not _is(one, source)]
    if not any(_is(one, source) and fields.text(one, "uid") == source.uid for one in owners):
        patch["ownerReferences"] = [*others, reference_to(CATALOG_SOURCE, source.name, source.uid)]
    return {"metadata": patch} if patch else {}


def _is(owner: ReadOnly, source: CatalogSource) -> bool:
    return fields.text(owner, "kind") == CATALOG_SOURCE.kind and fields.text(owner, "name") == source.name


def referred(status: ReadOnly, config_map: ConfigMap, now: datetime) -> Manifest:
    """The status that names the ConfigMap as it is; the time is later by a second or more with each change of it.

    Clients of OLM wait for a later time, which has no fractions of a second.
    """
    desired = {
        "name": config_map.name, "namespace": config_map.namespace, "uid": config_map.uid,
        "resourceVersion": config_map.resource_version,
    }  # fmt: skip
    known = fields.part(status, "configMapReference")
    if {key: value for key, value in known.items() if key != "lastUpdateTime"} == desired:
        return dict(status)
    before = fields.moment(known, "lastUpdateTime")
    at = max(now, before + timedelta(seconds=1)) if before else now
    return {**status, "configMapReference": {**desired, "lastUpdateTime": timestamp(at)}}


def connected(status: ReadOnly) -> Manifest:
    """The status whose connection is at least a second younger than its ConfigMap: clients of OLM wait for that."""
    changed, since = (
        fields.moment(status, *path)
        for path in (("configMapReference", "lastUpdateTime"), ("connectionState", "lastConnect"))
    )
    if changed is None or since is None or since > changed:
        return dict(status)
    later = {"lastConnect": timestamp(changed + timedelta(seconds=1))}
    return {**status, "connectionState": {**fields.part(status, "connectionState"), **later}}


def absent(source: CatalogSource, now: datetime) -> Manifest:
    """The status without the ConfigMap; what was read of it stays in use."""
    name = source.config_map
    return _failed(source, f'failed to get catalog config map {name}: configmaps "{name}" not found', now)


def unowned(source: CatalogSource, refusal: str, now: datetime) -> Manifest:
    """The status when the API server refuses its label and owner."""
    return _failed(source, f"unable to write owner onto catalog source configmap - {refusal}", now)


def _failed(source: CatalogSource, message: str, now: datetime) -> Manifest:
    return {**catalog_source.unavailable(source.status, "", now), "reason": ERROR, "message": message}
