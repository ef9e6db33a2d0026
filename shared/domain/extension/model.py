"""What a ClusterExtension asks for and what catalogs offer, as values (v1.md §10, §13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.api.manifest import ReadOnly
from shared.domain.catalog.model import Channel
from shared.domain.semver.release import Release
from shared.domain.semver.version import Version


@dataclass(frozen=True, slots=True)
class Identity:
    """Version and release of a bundle. No release means that none is known; an empty one, that there is none."""

    version: Version
    release: Release | None = None

    @property
    def key(self) -> tuple[Version, Release]:
        """What it is ordered by."""
        return self.version, self.release or Release()

    def recorded(self, *, has_releases: bool) -> dict[str, str]:
        """How an installed revision remembers it (v1.md §14, `MetadataFor`)."""
        if has_releases:
            return {"version": str(self.version)} | ({} if self.release is None else {"release": str(self.release)})
        return {
            "version": f"{self.version}+{self.release}" if self.release and self.release.text else str(self.version)
        }


@dataclass(frozen=True, slots=True)
class Bundle:
    """One bundle of a package, as its blob states it."""

    name: str
    image: str
    properties: tuple[Mapping[str, Any], ...]
    identity: Identity | None
    problem: str = ""
    """Why it has no identity."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What one catalog has of the package."""

    bundles: tuple[Bundle, ...] = ()
    channels: tuple[Channel, ...] = ()
    deprecations: ReadOnly | None = None
    """The `olm.deprecations` blob."""
    is_empty: bool = False
    """The catalog has never heard of the package."""
    problem: str = ""
    """Why the documents of the package cannot be read."""

    @property
    def deprecated(self) -> frozenset[str]:
        """The bundles that nobody should install any more."""
        entries = (self.deprecations or {}).get("entries") or ()
        references = [entry.get("reference") or {} for entry in entries]
        return frozenset(one.get("name") or "" for one in references if one.get("schema") == "olm.bundle")


@dataclass(frozen=True, slots=True)
class CatalogView:
    """A ClusterCatalog; its content, or the sentence that says why there is none."""

    name: str
    priority: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    is_available: bool = True
    offer: Offer = field(default_factory=Offer)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Installed:
    """The installed bundle, as it was recorded."""

    name: str
    version: str
    release: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """`spec.source.catalog` of a ClusterExtension."""

    package: str
    version: str = ""
    channels: tuple[str, ...] = ()
    selector: ReadOnly | None = None
    is_self_certified: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """What one rule left of the bundles of one catalog."""

    catalog: str
    rule: str
    left: int
    removed: tuple[str, ...] = ()
    """The bundles that it removed, newest first."""
    there: tuple[str, ...] = ()
    """What the catalog has where the request asks for something else: its labels, or its channels."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """The bundle that was chosen, or the sentence that says why none was; and how it came to that."""

    trace: tuple[Step, ...]
    bundle: Bundle | None = None
    catalog: str = ""
    deprecations: ReadOnly | None = None
    error: str = ""
    is_exhausted: bool = False
    """Every catalog was asked, and no bundle is left."""
