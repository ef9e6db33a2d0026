"""The nodes and links of a picture of the update graph, in any format (fbc.md §14)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from shared.domain.authoring.identity import identity, name_of
from shared.domain.catalog.config import Blob, Config
from shared.domain.catalog.model import PACKAGE, Entry, Package
from shared.domain.go.text import quoted
from shared.domain.semver import InvalidRange, Range, Version, parse_range, parse_version, range_or_none

_UNKNOWN: Final = parse_version("0.0.0")
"""The version of a name that no bundle has."""


class Undrawable(ValueError):
    """The bundle at which a picture should begin is unknown."""


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """The part of a catalog that is drawn, and how."""

    package: str = ""
    """Only this package; all when empty."""
    minimum: str = ""
    """Only what leads from this bundle upwards, in its package; everything when empty."""
    marks_skipped: bool = True
    """Show which entries OLM never installs because a higher one skips them."""


@dataclass(frozen=True, slots=True)
class Link:
    """An update from a name, which need not be an entry, to the entry that it is drawn at."""

    kind: str
    """`skip`, `replace` or `skipRange`."""
    source: str
    label: str
    is_skipped: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """An entry of a channel and the links that lead to it."""

    name: str
    links: tuple[Link, ...]
    is_deprecated: bool
    is_skipped: bool


@dataclass(frozen=True, slots=True)
class DrawnChannel:
    """A channel, its highest entry first."""

    name: str
    nodes: tuple[Node, ...]
    is_deprecated: bool


@dataclass(frozen=True, slots=True)
class DrawnPackage:
    """A package and its channels by name."""

    name: str
    channels: tuple[DrawnChannel, ...]
    is_deprecated: bool


@dataclass(slots=True)
class Drawing:
    """The packages by name, and what could not be drawn."""

    packages: list[DrawnPackage] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def draw(config: Config, options: GraphOptions) -> Drawing:
    """The picture of a catalog. Undrawable when no bundle has the minimum's name; InvalidBundle for bad properties."""
    versions: dict[str, Version] = {}
    for bundle in config.bundles:
        if name_of(bundle) not in versions:
            versions[name_of(bundle)] = identity(bundle)[1]
    if options.minimum and options.minimum not in versions:
        raise Undrawable(f"unknown minimum edge name: {quoted(options.minimum)}")
    drawing, deprecated = Drawing(), _deprecated(config)
    for package, channels in sorted(_chosen(config, options).items()):
        painter = _Painter(package, versions, deprecated, options, drawing.warnings)
        drawn = tuple(filter(None, map(painter.channel, channels)))
        if drawn:
            drawing.packages.append(DrawnPackage(package, drawn, (package, "olm.package", "") in deprecated))
    return drawing


def documents_of(package: Package) -> Config:
    """The documents of a package, as far as a picture needs them."""
    properties = {
        one.name: [{"type": PACKAGE, "value": {"packageName": package.name, "version": one.version}}]
        for one in package.bundles.values()
    }
    return Config(
        channels=[
            {"package": package.name, "name": channel.name, "entries": [entry.document() for entry in channel.entries]}
            for channel in package.channels
        ],
        bundles=[{"name": name, "properties": values} for name, values in properties.items()],
        deprecations=[{"package": package.name, "entries": list(map(_deprecation, package.deprecations))}],
    )


def _deprecation(what: str) -> Blob:
    schema, _, name = what.partition("/")
    return {"reference": {"schema": f"olm.{schema}", "name": name}}


def _chosen(config: Config, options: GraphOptions) -> dict[str, list[Blob]]:
    """The channels by package and in the order of their names."""
    found: dict[str, list[Blob]] = {}
    for channel in sorted(config.channels, key=lambda one: str(one["name"])):
        found.setdefault(channel["package"], []).append(channel)
    owner = next((package for package, ones in found.items() if options.minimum in _entry_names(ones)), "")
    desired = {name for name in (options.package, owner if options.minimum else "") if name}
    return {package: channels for package, channels in found.items() if all(package == name for name in desired)}


def _entry_names(channels: list[Blob]) -> set[str]:
    return {entry["name"] for channel in channels for entry in channel["entries"] or ()}


def _deprecated(config: Config) -> frozenset[tuple[str, str, str]]:
    """Package, schema and name of whatever is deprecated; bundles count in every package."""
    found = set()
    for blob in config.deprecations:
        for entry in blob["entries"] or ():
            schema, name = entry["reference"]["schema"], entry["reference"].get("name", "")
            owner = "" if schema == "olm.bundle" else blob["package"]
            found.add((owner, schema, "" if schema == "olm.package" else name))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class _Painter:
    """Draws the channels of one package."""

    package: str
    versions: Mapping[str, Version]
    deprecated: frozenset[tuple[str, str, str]]
    options: GraphOptions
    warnings: list[str]

    def channel(self, blob: Blob) -> DrawnChannel | None:
        """One channel; None when nothing of it is left."""
        entries = [entry for one in blob["entries"] or () if (entry := self._kept(Entry.of(one)))]
        if not entries and (self.options.minimum or self.options.package):
            return None
        skipped: set[str] = set()
        ordered = sorted(entries, key=lambda entry: self._version(entry.name), reverse=True)
        nodes = tuple(self._node(entry, entries, skipped) for entry in ordered)
        return DrawnChannel(blob["name"], nodes, (self.package, "olm.channel", blob["name"]) in self.deprecated)

    def _version(self, name: str) -> Version:
        return self.versions.get(name, _UNKNOWN)

    def _node(self, entry: Entry, entries: list[Entry], skipped: set[str]) -> Node:
        is_skipped = entry.name in skipped
        links = []
        for name in entry.skips:
            links.append(Link("skip", name, "skip", name in skipped))
            if self.options.marks_skipped:
                skipped.add(name)
        into = partial(Link, is_skipped=entry.name in skipped)
        if desired := self._range(entry):
            names = [other.name for other in entries if self._version(other.name) in desired]
            links += [into("skipRange", name, f"skipRange({entry.skip_range})") for name in names]
        if entry.replaces:
            links.append(into("replace", entry.replaces, "replace"))
        return Node(entry.name, tuple(links), ("", "olm.bundle", entry.name) in self.deprecated, is_skipped)

    def _range(self, entry: Entry) -> Range | None:
        if not entry.skip_range:
            return None
        try:
            return parse_range(entry.skip_range)
        except InvalidRange as error:
            where = f"{quoted(self.package)}/{quoted(entry.name)}"
            self.warnings.append(f"ignoring invalid SkipRange for package/edge {where}: {error}")
            return None

    def _kept(self, entry: Entry) -> Entry | None:
        """The entry with the links that are not below the minimum; None when it lost all of them, or is below."""
        if not self.options.minimum:
            return entry
        bare = Entry(entry.name)
        if entry.name == self.options.minimum:
            return bare
        lowest = self._version(self.options.minimum)
        if entry == bare:
            return bare if self._version(entry.name) >= lowest else None
        kept = replace(
            entry,
            replaces=entry.replaces if self._version(entry.replaces) >= lowest else "",
            skips=tuple(name for name in entry.skips if self._version(name) >= lowest),
            skip_range=entry.skip_range if _spans(entry.skip_range, lowest) else "",
        )
        return None if kept == bare else kept


def _spans(range_text: str, version: Version) -> bool:
    found = range_or_none(range_text)
    return found is not None and version in found
