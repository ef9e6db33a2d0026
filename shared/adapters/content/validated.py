"""Catalogs that were found valid: which they are, and what a list shows of one, from its snapshot alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from shared.adapters.content.snapshot import Channels, Snapshot
from shared.adapters.content.store import Store
from shared.domain.catalog.config import Blob, Config
from shared.domain.catalog.graph import heads
from shared.domain.catalog.meta import meta_of
from shared.domain.catalog.model import Channel

Listing: TypeAlias = Literal["packages", "channels", "bundles"]


def is_valid(snapshot: Snapshot, store: Store) -> bool:
    """Whether the catalog was found valid, in exactly this state."""
    return store.path(_mark(snapshot)) is not None


def remember(snapshot: Snapshot, store: Store) -> None:
    """Note that the catalog is valid."""
    store.fill(_mark(snapshot), lambda _: None)


def config_of(snapshot: Snapshot, listing: Listing) -> Config:
    """As much of a valid catalog as a list shows. FileNotFoundError when its files have changed meanwhile."""
    config = Config()
    for name in snapshot.names:
        found = snapshot.channels(name)
        if isinstance(found, Channels):
            config.packages.append({"name": name, "defaultChannel": found.default_channel})
            config.channels += [_channel(name, channel) for channel in found.channels]
            config.bundles += _BUNDLES[listing](snapshot, name, found)
    return config


def _mark(snapshot: Snapshot) -> str:
    return f"valid-{snapshot.name}"


def _channel(package: str, channel: Channel) -> Blob:
    return {"package": package, "name": channel.name, "entries": [entry.document() for entry in channel.entries]}


def _described(snapshot: Snapshot, package: str, found: Channels) -> Iterator[Blob]:
    """The bundle that gives a package its name for people, whole."""
    default = [channel for channel in found.channels if channel.name == found.default_channel]
    pages = snapshot.documents(package)
    for head in (entry for channel in default for entry in heads(channel)[:1]):
        config = Config()
        for row in pages.rows("olm.bundle", head.name):
            config.add(meta_of(pages.value(row)))
        yield from config.bundles


def _named(snapshot: Snapshot, package: str, _: Channels) -> Iterator[Blob]:
    for bundle in snapshot.bundles(package).values():
        yield {"package": package, "name": bundle.name, "image": bundle.image}


def _none(*_: Any) -> Iterator[Blob]:  # why: lists of channels need no bundle
    return iter(())


_BUNDLES = {"packages": _described, "channels": _none, "bundles": _named}
