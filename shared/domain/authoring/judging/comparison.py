"""What changes for the users of a catalog when another one replaces it (fbc.md §18)."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from shared.domain.authoring.judging.conversion import ChannelDraft, Drafts, PackageDraft
from shared.domain.authoring.judging.statements import Statements, differences
from shared.domain.catalog import graph
from shared.domain.catalog.model import Channel, Entry
from shared.domain.semver import Range, Version, parse_range, parse_version


class Kind(enum.StrEnum):
    """What a difference means to the users of a catalog."""

    GAINED = "gained"
    LOST = "lost"
    STUCK = "stuck"
    """A version from which updates led to the head, and do not any more."""
    CHANGED = "changed"


Facts: TypeAlias = Iterator[tuple[Kind, str]]
"""Each difference as a sentence."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference, from the point of view of a cluster that uses the older catalog."""

    kind: Kind
    package: str
    message: str


@dataclass(frozen=True, slots=True)
class Catalog:
    """A valid catalog, as far as it is compared."""

    packages: Drafts
    statements: Statements
    """Of all of their bundles."""


def compare(older: Catalog, newer: Catalog) -> tuple[Change, ...]:
    """Every difference, package by package."""
    changes = []
    for name in sorted(older.packages.keys() | newer.packages.keys()):
        facts = _package(older.packages.get(name), newer.packages.get(name))
        changes += [Change(kind, name, message) for kind, message in (*facts, *_statements(older, newer, name))]
    return tuple(changes)


def _statements(older: Catalog, newer: Catalog, package: str) -> Facts:
    before, after = (one.packages[package].bundles if package in one.packages else {} for one in (older, newer))
    for name in sorted(before.keys() & after.keys()):
        changes = differences(older.statements[package, name], newer.statements[package, name])
        yield from ((Kind.CHANGED, f"bundle {name} {what}") for what in changes)


def _package(older: PackageDraft | None, newer: PackageDraft | None) -> Facts:
    if older is None or newer is None:
        yield (Kind.LOST, "the package is gone") if newer is None else (Kind.GAINED, "the package is new")
        return
    if older.blob.default_channel != newer.blob.default_channel:
        was, is_ = older.blob.default_channel, newer.blob.default_channel
        yield Kind.CHANGED, f"the default channel is {is_}, it was {was}: subscriptions that name none move"
    yield from _names("channel", older.channels, newer.channels)
    yield from _names("bundle", older.bundles, newer.bundles)
    for name in sorted(newer.bundles.keys() & older.bundles.keys()):
        before, after = older.bundles[name], newer.bundles[name]
        if (before.version, before.release) != (after.version, after.release):
            yield Kind.CHANGED, f"bundle {name} has version {after.version}, it had {before.version}"
    versions = {name: parse_version(bundle.version) for name, bundle in {**older.bundles, **newer.bundles}.items()}
    for name in sorted(older.channels.keys() & newer.channels.keys()):
        yield from _channel(older.channels[name], newer.channels[name], versions)
    yield from _deprecations(older, newer)


def _names(what: str, older: Mapping[str, object], newer: Mapping[str, object]) -> Facts:
    yield from ((Kind.LOST, f"{what} {name} is gone") for name in sorted(older.keys() - newer.keys()))
    yield from ((Kind.GAINED, f"{what} {name} is new") for name in sorted(newer.keys() - older.keys()))


def _channel(older: ChannelDraft, newer: ChannelDraft, versions: Mapping[str, Version]) -> Facts:
    before, after = _graph(older), _graph(newer)
    was, is_ = _head(before), _head(after)
    if was != is_:
        yield Kind.CHANGED, f"the head of channel {newer.name} is {is_}, it was {was}"
    led, lead = _led(before, versions), _led(after, versions)
    for entry in before.entries:
        if entry.name in led and entry.name not in lead and entry.name != is_:
            gone = "" if any(one.name == entry.name for one in after.entries) else ", which is no longer in it,"
            yield Kind.STUCK, f"in channel {newer.name}, {entry.name}{gone} is not updated to {is_}"


def _graph(channel: ChannelDraft) -> Channel:
    return Channel(channel.name, channel.blob.entries if channel.blob else ())


def _head(channel: Channel) -> str:
    return ", ".join(entry.name for entry in graph.heads(channel))


def _led(channel: Channel, versions: Mapping[str, Version]) -> set[str]:
    """The names that updates lead from to the head, the head included."""
    below: dict[str, set[str]] = {}
    for entry in channel.entries:
        below[entry.name] = {entry.replaces, *entry.skips} | _skipped_versions(entry, versions)
    reached: set[str] = set()
    ahead = [entry.name for entry in graph.heads(channel)]
    while ahead:
        if (name := ahead.pop()) not in reached:
            reached.add(name)
            ahead += below.get(name, ())
    return reached


def _skipped_versions(entry: Entry, versions: Mapping[str, Version]) -> set[str]:
    if not entry.skip_range:
        return set()
    skipped: Range = parse_range(entry.skip_range)
    own = versions[entry.name]
    return {name for name, version in versions.items() if version in skipped and version < own}


def _deprecations(older: PackageDraft, newer: PackageDraft) -> Facts:
    before, after = _deprecated(older), _deprecated(newer)
    for what in sorted(after.keys() - before.keys()):
        yield Kind.CHANGED, f"{what} is deprecated: {after[what].strip()}"
    for what in sorted(before.keys() - after.keys()):
        yield Kind.CHANGED, f"{what} is no longer deprecated"


def _deprecated(package: PackageDraft) -> dict[str, str]:
    notices = {f"channel {name}": channel.deprecation for name, channel in package.channels.items()}
    notices |= {f"bundle {name}": notice for name, notice in package.bundle_deprecations.items()}
    notices["the package"] = package.deprecation
    return {what: notice.message for what, notice in notices.items() if notice}
