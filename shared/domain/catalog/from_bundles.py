"""A file-based catalog made of bundles: channels from their annotations, edges from their ClusterServiceVersions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from shared.api.manifest import Manifest, annotations_of
from shared.domain.bundle.model import ParsedBundle
from shared.domain.bundle.properties import properties
from shared.domain.catalog.model import Entry
from shared.domain.semver import InvalidVersion, Version
from shared.domain.semver import parse as parse_version

_SKIP_RANGE: Final = "olm.skipRange"


@dataclass(frozen=True, slots=True)
class Published:
    """A bundle and the image it is served as."""

    bundle: ParsedBundle
    image: str

    @property
    def package(self) -> str:
        """The package it belongs to."""
        return self.bundle.annotations.package


Channels: TypeAlias = dict[str, list[Published]]


def from_bundles(published: Iterable[Published]) -> tuple[tuple[Manifest, ...], tuple[str, ...]]:
    """The documents of the catalog, and a sentence for each bundle that was left out."""
    packages: dict[str, list[Published]] = defaultdict(list)
    findings = []
    for one in published:
        twin = next((other for other in packages[one.package] if other.bundle.name == one.bundle.name), None)
        if why := _unusable(one, twin):
            findings.append(f"{one.image} is left out: {why}")
        else:
            packages[one.package].append(one)
    documents = [document for name in sorted(packages) for document in _package(name, packages[name])]
    return tuple(documents), tuple(findings)


def _unusable(one: Published, twin: Published | None) -> str:
    if twin is not None:
        return f"{twin.image} has the same name, {one.bundle.name}"
    if not one.bundle.annotations.channels:
        return "its annotations name no channel"
    try:
        parse_version(one.bundle.version)
    except InvalidVersion as error:
        return f"its version {one.bundle.version!r} cannot be ordered: {error}"
    return ""


def _version(one: Published) -> Version:
    return parse_version(one.bundle.version)


def _package(name: str, members: Sequence[Published]) -> list[Manifest]:
    if not members:
        return []
    ordered = sorted(members, key=lambda one: (_version(one), one.bundle.name))
    channels: Channels = defaultdict(list)
    for one in ordered:
        for channel in one.bundle.annotations.channels:
            channels[channel].append(one)
    present = {one.bundle.name for one in ordered}
    return [
        {"schema": "olm.package", "name": name, "defaultChannel": _default_channel(ordered, channels)},
        *(_channel(name, channel, channels[channel], present) for channel in sorted(channels)),
        *map(_bundle, ordered),
    ]


def _default_channel(ordered: Sequence[Published], channels: Channels) -> str:
    """What the newest bundle that names an existing one says, else the fullest channel of the newest bundle."""
    for one in reversed(ordered):
        if one.bundle.annotations.default_channel in channels:
            return one.bundle.annotations.default_channel
    return min(ordered[-1].bundle.annotations.channels, key=lambda name: (-len(channels[name]), name))


def _channel(package: str, name: str, members: Sequence[Published], present: set[str]) -> Manifest:
    entries = _joined([_entry(one, present) for one in members])
    return {"schema": "olm.channel", "package": package, "name": name, "entries": [_written(one) for one in entries]}


def _entry(one: Published, present: set[str]) -> Entry:
    spec = one.bundle.csv.get("spec") or {}
    replaces = str(spec.get("replaces") or "")
    return Entry(
        one.bundle.name,
        replaces if replaces in present else "",
        tuple(skip for skip in map(str, spec.get("skips") or ()) if skip in present),
        annotations_of(one.bundle.csv).get(_SKIP_RANGE, ""),
    )


def _joined(entries: Sequence[Entry]) -> list[Entry]:
    """The entries, in version order, with a single head: of several, each follows the one before."""
    followed = {name for entry in entries for name in (entry.replaces, *entry.skips) if name != entry.name}
    joined, head = [], ""
    for entry in entries:
        joined.append(_following(entry, head) if head and entry.name not in followed else entry)
        head = head if entry.name in followed else entry.name
    return joined


def _following(entry: Entry, head: str) -> Entry:
    # An entry replaces one other at most: what it already replaces stays, and the older head is skipped.
    return replace(entry, skips=(*entry.skips, head)) if entry.replaces else replace(entry, replaces=head)


def _written(entry: Entry) -> Manifest:
    fields = {"replaces": entry.replaces, "skips": list(entry.skips), "skipRange": entry.skip_range}
    return {"name": entry.name} | {key: value for key, value in fields.items() if value}


def _bundle(one: Published) -> Manifest:
    return {
        "schema": "olm.bundle",
        "package": one.package,
        "name": one.bundle.name,
        "image": one.image,
        "properties": [{"type": found.type, "value": found.value} for found in properties(one.bundle)],
    }
