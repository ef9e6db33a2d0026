"""What a catalog offers of a package: as its documents say, or as its index does (v1.md §13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from shared.api.manifest import ReadOnly
from shared.domain.catalog.model import Channel, Entry, Package
from shared.domain.extension.identity import NoIdentity, of_bundle
from shared.domain.extension.model import Bundle, Offer
from shared.domain.shape import Shape, check

_ENTRY: Final[Shape] = {"name": str, "replaces": str, "skips": [str], "skipRange": str}
_BLOBS: Final[Mapping[str, Shape]] = {
    "olm.package": {},
    "olm.bundle": {"name": str, "image": str, "properties": [{"type": str}]},
    "olm.channel": {"name": str, "entries": [_ENTRY]},
    "olm.deprecations": {"entries": [{"reference": {"schema": str, "name": str}}]},
}
"""By schema; others may hold anything."""


def offer_of(blobs: Iterable[Mapping[str, Any]], package: str, *, has_releases: bool) -> Offer:
    """What the blobs say about a package; bundles in the order of the files they are cached in. InvalidQuestion."""
    own = [blob for blob in blobs if _package_of(blob) == package]
    for blob in own:
        check(blob, _BLOBS.get(str(blob.get("schema")), {}), f"{blob.get('schema')} {blob.get('name') or package}")
    listed: dict[str, list[Mapping[str, Any]]] = {}
    for blob in own:
        listed.setdefault(str(blob.get("schema")), []).append(blob)
    bundles = (
        _bundle(blob.get("name"), blob.get("image"), blob.get("properties") or (), has_releases=has_releases)
        for blob in listed.get("olm.bundle", ())
    )
    return Offer(
        _in_order(bundles),
        tuple(map(_channel, listed.get("olm.channel", ()))),
        next(iter(listed.get("olm.deprecations", ())), None),
        is_empty=not own,
    )


def offer_of_package(package: Package, deprecations: ReadOnly | None, *, has_releases: bool) -> Offer:
    """What an indexed package says, with its `olm.deprecations` document: the same, but nothing else is read."""
    bundles = (
        _bundle(
            one.name,
            one.image,
            ({"type": stated.type, "value": stated.value} for stated in one.properties),
            has_releases=has_releases,
        )
        for one in package.bundles.values()
    )
    return Offer(_in_order(bundles), package.channels, deprecations)


def _package_of(blob: Mapping[str, Any]) -> object:
    return blob.get("name" if blob.get("schema") == "olm.package" else "package")


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


def _entry(stated: Mapping[str, Any]) -> Entry:
    name, replaces, skip_range = (stated.get(field) or "" for field in ("name", "replaces", "skipRange"))
    return Entry(name, replaces, tuple(stated.get("skips") or ()), skip_range)
