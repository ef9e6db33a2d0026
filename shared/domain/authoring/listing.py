"""The tables that `opm list` prints of a valid catalog (fbc.md §13.5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from shared.domain.authoring.identity import display_name, name_of
from shared.domain.catalog.config import Blob, Config
from shared.domain.catalog.graph import heads
from shared.domain.catalog.model import Channel, Entry
from shared.domain.go.text import quoted


class UnknownPackage(ValueError):
    """The catalog has no such package."""


Row: TypeAlias = dict[str, str | list[str]]


def packages(config: Config) -> list[Row]:
    """Every package, its display name and its default channel."""
    bundles = {(bundle["package"], name_of(bundle)): bundle for bundle in config.bundles}
    channels = {(channel["package"], channel["name"]): channel for channel in config.channels}
    rows: list[Row] = []
    for package in sorted(config.packages, key=name_of):
        name, default = package["name"], package["defaultChannel"]
        head = bundles.get((name, _head(channels[name, default]))) if (name, default) in channels else None
        rows.append({"name": name, "displayName": display_name(head) if head else "", "defaultChannel": default})
    return rows


def channels(config: Config, package: str = "") -> list[Row]:
    """Every channel and its head. UnknownPackage."""
    return [
        {"package": channel["package"], "channel": channel["name"], "head": _head(channel)}
        for channel in _channels(config, package)
    ]


def bundles(config: Config, package: str = "") -> list[Row]:
    """Every entry of every channel, and the image of its bundle. UnknownPackage."""
    images = {(bundle["package"], name_of(bundle)): bundle["image"] for bundle in config.bundles}
    return [
        {
            "package": channel["package"],
            "channel": channel["name"],
            "bundle": entry["name"],
            "replaces": entry.get("replaces", ""),
            "skips": entry.get("skips", []),
            "skipRange": entry.get("skipRange", ""),
            "image": images[channel["package"], entry["name"]],
        }
        for channel in _channels(config, package)
        for entry in sorted(channel["entries"], key=name_of)
    ]


def _channels(config: Config, package: str) -> Iterable[Blob]:
    if package and all(package != one["name"] for one in config.packages):
        raise UnknownPackage(f"package {quoted(package)} not found")
    chosen = (channel for channel in config.channels if package in ("", channel["package"]))
    return sorted(chosen, key=lambda channel: (channel["package"], channel["name"]))


def _head(channel: Blob) -> str:
    return heads(Channel(channel["name"], tuple(map(Entry.of, channel["entries"]))))[0].name
