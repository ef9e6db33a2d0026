"""Bundles whose manifests stand in their catalog: what names one where others have an image (catalog.md §3.7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from shared.api.manifest import Manifest
from shared.domain.bundle import payload
from shared.domain.bundle.model import BadBundle

_PREFIX: Final = "catalog:"


@dataclass(frozen=True, slots=True)
class InlineBundle:
    """A bundle of one edition of a catalog."""

    package: str
    name: str
    reference: str
    """The catalog, by the digest of its content."""

    def __str__(self) -> str:
        return f"{_PREFIX}{self.package}/{self.name}@{self.reference}"

    @classmethod
    def parse(cls, path: str) -> InlineBundle | None:
        """The bundle that a path names; None for the reference of an image."""
        if not path.startswith(_PREFIX):
            return None
        named, _, reference = path.removeprefix(_PREFIX).partition("@")
        package, _, name = named.partition("/")
        return cls(package, name, reference) if package and name and reference else None

    def payload(self, manifests: Iterable[str]) -> Manifest | BadBundle:
        """What its ConfigMap contains, from its manifests as JSON."""
        files = {f"manifests/{number:04}.json": text.encode() for number, text in enumerate(manifests)}
        if not files:
            what = f"bundle {self.name} of package {self.package} has neither an image nor manifests in its catalog"
            return BadBundle("Empty", f"{what}; give it one of them there")
        return payload.payload(files, str(self))
