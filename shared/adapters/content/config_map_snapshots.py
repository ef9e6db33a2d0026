"""Catalogs of ConfigMaps (`configmap://name`), stored by the digest of their content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import orjson

from shared import kinds
from shared.adapters.content.image_snapshots import name_of
from shared.adapters.content.indexing import opened
from shared.adapters.content.line_snapshots import digest_of, snapshot_of_lines
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.store import Store
from shared.adapters.kube import ApiError
from shared.adapters.oci.errors import OciError
from shared.api.manifest import Manifest
from shared.api.views import ConfigMap
from shared.domain.authoring.config_map_catalog import KEYS, converted
from shared.domain.catalog.documents import NotACatalog
from shared.domain.catalog_source import IN_CONFIG_MAP
from shared.domain.image_source import ImageSource
from shared.domain.serving.from_registry_api import BadResponse, lines_of
from shared.kinds import Ref

Get: TypeAlias = Callable[[Ref], Manifest | None]
"""Reads an object; None when there is none. ApiError."""


@dataclass(frozen=True, slots=True)
class ConfigMapContent:
    """A ConfigMap, and the digest of its content."""

    namespace: str
    name: str
    digest: str = ""

    def __str__(self) -> str:
        return f"{self.server}@{self.digest}"

    @property
    def server(self) -> str:
        """What is asked for the content."""
        return f"{IN_CONFIG_MAP}{self.namespace}/{self.name}"

    @classmethod
    def desired(cls, source: ImageSource) -> ConfigMapContent:
        """The ConfigMap that a CatalogSource names: always one beside it."""
        return cls(source.namespace, source.image.removeprefix(IN_CONFIG_MAP))

    @classmethod
    def parse(cls, reference: str, source: ImageSource) -> ConfigMapContent:
        """The content of a reference. OciError for that of another namespace, whatever a status says."""
        place, _, digest = reference.removeprefix(IN_CONFIG_MAP).partition("@")
        namespace, _, name = place.partition("/")
        if namespace != source.namespace or not digest:
            raise OciError("NotFound", f"{reference} is no content of a catalog in namespace {source.namespace}")
        return cls(namespace, name, digest)


def snapshot_of_config_map(
    place: ConfigMapContent, store: Store, get: Get, *, is_kept_good: bool = True
) -> tuple[ConfigMapContent, Snapshot]:
    """The catalog of a ConfigMap: its present content, or that of the digest. OciError when it cannot be read.

    `is_kept_good` says whether the ConfigMap is known to have had that content, so that a store may answer.
    """
    if place.digest and is_kept_good and (kept := opened(store, name_of(place.digest))) is not None:
        return place, kept
    config_map = _read(place, get)
    content = orjson.dumps([place.server, *(config_map.texts.get(key, "") for key in KEYS)])
    found = ConfigMapContent(place.namespace, place.name, digest_of(content))
    if place.digest not in ("", found.digest):
        raise OciError("NotFound", f"{place}: the ConfigMap has another content by now; it is read again")
    return found, _indexed(found, config_map, store)


def _read(place: ConfigMapContent, get: Get) -> ConfigMap:
    ref = kinds.CONFIG_MAP.ref_or_none(place.name, place.namespace)
    try:
        found = get(ref) if ref else None
    except ApiError as error:
        raise OciError("Unreachable", f"ConfigMap {place.name} cannot be read: {error}") from error
    if found is None:
        raise OciError("NotFound", f'configmaps "{place.name}" not found')
    return ConfigMap(found)


def _indexed(place: ConfigMapContent, config_map: ConfigMap, store: Store) -> Snapshot:
    try:
        catalog = converted(config_map)
        lines = lines_of(catalog.documents)
        return snapshot_of_lines(store, name_of(place.digest), lines, left_out=catalog.left_out)
    except (NotACatalog, BadResponse) as error:
        raise OciError("Malformed", f"ConfigMap {place.name} holds no catalog: {error}") from error
