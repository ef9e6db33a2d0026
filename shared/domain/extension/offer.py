"""What a catalog offers of a package: as its documents say, or as its index does (v1.md §13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from shared.api.manifest import ReadOnly
from shared.domain.catalog.blobs import Unreadable
from shared.domain.catalog.config import Config
from shared.domain.catalog.meta import Meta, meta_of, refusal
from shared.domain.catalog.model import PACKAGE, Channel, Entry, Package
from shared.domain.extension.identity import NoIdentity, of_bundle
from shared.domain.extension.model import Bundle, Offer
from shared.domain.go.text import quoted
from shared.domain.shape import InvalidRequest


def offer_of(blobs: Iterable[Mapping[str, Any]], package: str, *, has_releases: bool) -> Offer:
    """What the blobs say about a package, read as OLM v1 reads the files in which it keeps them (v1.md §9).

    Of several blobs with one name the last counts. InvalidRequest for a blob that belongs in no catalog.
    """
    own = (one for one in map(_meta, blobs) if (one.name if one.schema == PACKAGE else one.package) == package)
    files = {(one.schema, f"{one.name or one.schema}.json"): one for one in own}
    config = Config()
    try:
        for path in sorted(files):
            config.add(files[path])
    except Unreadable as error:
        return Offer(problem=f"error loading package {quoted(package)}: {error}")
    bundles = (
        _bundle(one.get("name"), one["image"], one.get("properties") or (), has_releases=has_releases)
        for one in config.bundles
    )
    return Offer(
        tuple(bundles),
        tuple(map(_channel, config.channels)),
        next(iter(config.deprecations), None),
        is_empty=not files,
    )


def offer_of_package(package: Package, deprecations: ReadOnly | None, *, has_releases: bool) -> Offer:
    """What an indexed package says, with its `olm.deprecations` document: the same, but nothing else is read."""
    bundles = (
        _bundle(
            one.name,
            one.image,
            ({"type": each.type, "value": each.value} for each in one.properties),
            has_releases=has_releases,
        )
        for one in package.bundles.values()
    )
    return Offer(_in_order(bundles), package.channels, deprecations)


def deprecations_of(package: Package) -> ReadOnly | None:
    """The `olm.deprecations` document that the index made its deprecations of; None without any."""
    schemas = {"package": "olm.package", "channel": "olm.channel", "bundle": "olm.bundle"}
    entries = []
    for place, message in package.deprecations.items():
        kind, _, name = place.partition("/")
        entries.append({"reference": {"schema": schemas[kind], **({"name": name} if name else {})}, "message": message})
    return {"schema": "olm.deprecations", "package": package.name, "entries": entries} if entries else None


def _meta(blob: Mapping[str, Any]) -> Meta:
    if why := refusal(blob):
        raise InvalidRequest(why)
    return meta_of(blob)


def _channel(blob: Mapping[str, Any]) -> Channel:
    return Channel(str(blob.get("name") or ""), tuple(map(_entry, blob.get("entries") or ())))


def _in_order(bundles: Iterable[Bundle]) -> tuple[Bundle, ...]:
    return tuple(sorted(bundles, key=lambda one: f"{one.name}.json"))


def _bundle(name: Any, image: Any, properties: Iterable[Mapping[str, Any]], *, has_releases: bool) -> Bundle:
    name, image, properties = str(name or ""), str(image or ""), tuple(properties)
    try:
        return Bundle(name, image, properties, of_bundle(name, properties, has_releases=has_releases))
    except NoIdentity as error:
        return Bundle(name, image, properties, None, str(error))


def _entry(fields: Mapping[str, Any]) -> Entry:
    name, replaces, skip_range = (fields.get(field) or "" for field in ("name", "replaces", "skipRange"))
    return Entry(name, replaces, tuple(fields.get("skips") or ()), skip_range)
