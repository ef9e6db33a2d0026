"""Operators as the resolver compares them: bundles in channels and ClusterServiceVersions (resolver.md §2.4, §2.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shared.domain.catalog.model import Bundle, Entry, Package, Property
from shared.domain.resolver.facts import Facts, Reader
from shared.domain.resolver.identity import CatalogKey, Installed
from shared.domain.semver import InvalidVersion, Range, Version, parse_tolerant, range_or_none

EXISTING = "@existing"
"""The name of the virtual catalog that holds what is installed."""
_BULKY = frozenset({"olm.bundle.object", "olm.csv.metadata"})
"""Content of the bundle, which a registry does not list as properties (fbc.md §15.5)."""
_DEPENDENCIES = frozenset({"olm.gvk.required", "olm.package.required"})
"""A registry lists these as properties and as dependencies; the resolver turns the latter into properties again."""


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """One version that can be installed or is installed; compared by identity."""

    name: str
    package: str
    channel: str
    catalog: CatalogKey
    version: Version | None
    facts: Facts
    replaces: str = ""
    skips: tuple[str, ...] = ()
    skip_range: Range | None = None
    is_default: bool = False
    """Its channel is the default one of its package."""
    bundle: Bundle | None = None
    """None for an installed version."""
    owner: str = ""
    """The Subscription that installed it; empty for one on offer, or when no Subscription claims it."""
    id: str = field(init=False)
    """How OLM names it in its messages."""

    def __post_init__(self) -> None:
        text = f"{self.catalog.name}/{self.catalog.namespace}/{self.channel}/{self.name}"
        object.__setattr__(self, "id", text)

    @property
    def is_installed(self) -> bool:
        """Whether it stands for a ClusterServiceVersion."""
        return self.bundle is None

    def updates(self, name: str, version: Version | None) -> bool:
        """Whether it may replace an installed version: by `replaces`, `skips`, or its `skipRange`."""
        if self.replaces == name or name in self.skips:
            return True
        return self.skip_range is not None and version is not None and version in self.skip_range


def of_package(package: Package, catalog: CatalogKey) -> Mapping[str, tuple[Operator, ...]]:
    """The operators of a package by channel, sorted by name as a registry lists them."""
    read = Reader().facts
    facts = {name: read(_translated(bundle, package.name)) for name, bundle in package.bundles.items()}

    def of_entry(entry: Entry, channel: str) -> Operator:
        bundle, is_default = package.bundles[entry.name], channel == package.default_channel
        return Operator(
            entry.name, package.name, channel, catalog, _version(bundle.version), facts[entry.name],
            entry.replaces, entry.skips, range_or_none(entry.skip_range), is_default, bundle,
        )  # fmt: skip

    return {
        channel.name: tuple(
            of_entry(entry, channel.name)
            for entry in sorted(channel.entries, key=lambda entry: entry.name)
            if entry.name in package.bundles
        )
        for channel in package.channels
    }


def of_installed(installed: Installed, namespace: str) -> Operator:
    """The operator of an installed version. Its own `replaces` and `skips` no longer matter, so they are left out."""
    facts = Reader().facts(installed.properties)
    package = facts.packages[-1].name if facts.packages else ""
    catalog = CatalogKey(namespace, EXISTING)
    version = _version(installed.version or "0.0.0")
    return Operator(installed.name, package, "", catalog, version, facts, owner=installed.owner)


def installed_as(operator: Operator, owner: str) -> Installed:
    """The operator as an installed version of that owner."""
    return Installed(operator.name, str(operator.version or ""), operator.facts.properties, owner)


def bundle_as_installed(bundle: Bundle, package: str, owner: str) -> Installed:
    """The bundle as an installed version of that owner, whichever channels have it."""
    return Installed(bundle.name, str(_version(bundle.version) or ""), _translated(bundle, package), owner)


def _translated(bundle: Bundle, package: str) -> tuple[Property, ...]:
    """The properties that a registry lists: dependencies are repeated, and an `olm.package` is always among them."""
    kinds = {one.type for one in bundle.properties}
    if "olm.package" in kinds and kinds.isdisjoint(_BULKY | _DEPENDENCIES):  # as nearly all are
        return bundle.properties
    kept = [one for one in bundle.properties if one.type not in _BULKY]
    declared = [*kept, *(one for one in kept if one.type in _DEPENDENCIES)]
    if "olm.package" not in kinds:
        declared.append(Property("olm.package", {"packageName": package, "version": bundle.version}))
    return tuple(declared)


def _version(text: str) -> Version | None:
    try:
        return parse_tolerant(text)
    except InvalidVersion:
        return None
