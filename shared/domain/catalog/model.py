"""The catalog as the resolver sees it: packages, channels, entries and bundles, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from shared.api.manifest import Manifest, ReadOnly

# Types of properties (fbc.md §4.1)
PACKAGE: Final = "olm.package"
PACKAGE_REQUIRED: Final = "olm.package.required"
GVK: Final = "olm.gvk"
GVK_REQUIRED: Final = "olm.gvk.required"
BUNDLE_OBJECT: Final = "olm.bundle.object"
CSV_METADATA: Final = "olm.csv.metadata"


@dataclass(frozen=True, slots=True)
class Property:
    """A typed statement of a bundle, e.g. `olm.gvk`, `olm.package`, `olm.gvk.required`."""

    type: str
    value: Any  # why: any JSON value


@dataclass(frozen=True, slots=True)
class Entry:
    """One node of a channel's update graph."""

    name: str
    replaces: str = ""
    skips: tuple[str, ...] = ()
    skip_range: str = ""

    @classmethod
    def of(cls, fields: ReadOnly) -> Entry:
        """The entry that a document states; what is absent or null is empty."""
        skips = tuple(skip or "" for skip in fields.get("skips") or ())
        return cls(fields.get("name") or "", fields.get("replaces") or "", skips, fields.get("skipRange") or "")

    def document(self) -> Manifest:
        """The entry as it stands in a document, which leaves out what is empty."""
        edges = {"replaces": self.replaces, "skips": list(self.skips), "skipRange": self.skip_range}
        return {"name": self.name} | {key: value for key, value in edges.items() if value}


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel: its entries in document order."""

    name: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Bundle:
    """One installable version of a package."""

    name: str
    version: str
    image: str
    properties: tuple[Property, ...] = ()


@dataclass(frozen=True, slots=True)
class Package:
    """A package with all its channels and bundles (each bundle once, by name)."""

    name: str
    default_channel: str
    channels: tuple[Channel, ...]
    bundles: Mapping[str, Bundle]
    deprecations: Mapping[str, str] = field(default_factory=dict)
    """`package`, `channel/<name>` or `bundle/<name>` to the message."""
    digest: str = field(default="", compare=False)
    """Of what an index holds of it: packages of equal digests are equal. Empty where nobody computed one."""
