"""A file-based catalog made of bundles: channels from their annotations, edges from their ClusterServiceVersions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from shared import names
from shared.api.manifest import Manifest, annotations_of
from shared.domain.authoring.bundles.render import csv_metadata
from shared.domain.bundle.annotations import CHANNELS
from shared.domain.bundle.model import ParsedBundle
from shared.domain.bundle.properties import properties
from shared.domain.bundle.shape import as_list, as_object
from shared.domain.catalog.model import CSV_METADATA, Entry, Property
from shared.domain.go_types.engine import MisfitError
from shared.domain.semver import InvalidVersion, Version, parse_version


@dataclass(frozen=True, slots=True)
class Offer:
    """What a catalog says about one bundle; small, where the bundle itself may be megabytes."""

    package: str
    version: str
    channels: tuple[str, ...]
    default_channel: str
    entry: Entry
    """Its edges as the ClusterServiceVersion states them."""
    properties: tuple[Property, ...]

    @property
    def name(self) -> str:
        """The name of the bundle."""
        return self.entry.name


@dataclass(frozen=True, slots=True)
class Published:
    """An offer and the image it is served as."""

    offer: Offer
    image: str
    where: str = ""
    """Its name in messages; empty means the name of its image."""

    def __str__(self) -> str:
        return self.where or self.image


Channels: TypeAlias = dict[str, list[Published]]


def offer(bundle: ParsedBundle) -> Offer:
    """What a catalog needs of a bundle."""
    spec = as_object(bundle.csv.get("spec"))
    skips = tuple(map(str, as_list(spec.get("skips"))))
    entry = Entry(
        bundle.name, str(spec.get("replaces") or ""), skips, annotations_of(bundle.csv).get(names.SKIP_RANGE, "")
    )
    labels = bundle.annotations
    declared = (*properties(bundle), *_described(bundle))
    return Offer(labels.package, bundle.version, labels.channels, labels.default_channel, entry, declared)


def _described(bundle: ParsedBundle) -> tuple[Property, ...]:
    """What people read of the version; nothing for one whose description has not the shape that it needs."""
    try:
        return (Property(CSV_METADATA, csv_metadata(bundle.csv)),)
    except MisfitError:
        return ()


def from_bundles(published: Iterable[Published]) -> tuple[tuple[Manifest, ...], tuple[str, ...]]:
    """The documents of the catalog, and a sentence for each bundle that was left out."""
    packages: dict[str, dict[str, Published]] = defaultdict(dict)
    findings = []
    for one in published:
        if why := _unusable(one, packages[one.offer.package].get(one.offer.name)):
            findings.append(f"{one}: {why}")
        else:
            packages[one.offer.package][one.offer.name] = one
    documents = [document for name in sorted(packages) for document in _package(name, packages[name].values())]
    return tuple(documents), tuple(findings)


def _unusable(one: Published, namesake: Published | None) -> str:
    if namesake is not None:
        return f"{namesake} has the same name, {one.offer.name}; rename one of the two"
    if not one.offer.channels:
        return f"metadata/annotations.yaml names no channel; add the annotation {CHANNELS}"
    try:
        parse_version(one.offer.version)
    except InvalidVersion as error:
        return f"spec.version {one.offer.version!r} is no semantic version: {error}; write one, e.g. 1.2.3"
    return ""


def _version(one: Published) -> Version:
    return parse_version(one.offer.version)


def _package(name: str, members: Collection[Published]) -> list[Manifest]:
    if not members:
        return []
    ordered = sorted(members, key=lambda one: (_version(one), one.offer.name))
    channels: Channels = defaultdict(list)
    for one in ordered:
        for channel in one.offer.channels:
            channels[channel].append(one)
    present = {one.offer.name for one in ordered}
    return [
        {"schema": "olm.package", "name": name, "defaultChannel": _default_channel(ordered, channels)},
        *(_channel(name, channel, channels[channel], present) for channel in sorted(channels)),
        *map(_bundle, ordered),
    ]


def _default_channel(ordered: Sequence[Published], channels: Channels) -> str:
    """The default of the newest bundle that names an existing channel, else the fullest of the newest bundle."""
    for one in reversed(ordered):
        if one.offer.default_channel in channels:
            return one.offer.default_channel
    return min(ordered[-1].offer.channels, key=lambda name: (-len(channels[name]), name))


def _channel(package: str, name: str, members: Sequence[Published], present: set[str]) -> Manifest:
    entries = _joined([_within(one.offer.entry, present) for one in members])
    return {"schema": "olm.channel", "package": package, "name": name, "entries": [one.document() for one in entries]}


def _within(entry: Entry, present: set[str]) -> Entry:
    """The entry without its edges to absent bundles."""
    skips = tuple(skip for skip in entry.skips if skip in present)
    return replace(entry, replaces=entry.replaces if entry.replaces in present else "", skips=skips)


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


def _bundle(one: Published) -> Manifest:
    return {
        "schema": "olm.bundle",
        "package": one.offer.package,
        "name": one.offer.name,
        "image": one.image,
        "properties": [{"type": found.type, "value": found.value} for found in one.offer.properties],
    }
