"""Which catalog, and what is installed."""

from __future__ import annotations

from dataclasses import dataclass

from shared.domain.catalog.model import Property


@dataclass(frozen=True, slots=True, order=True)
class CatalogKey:
    """Which CatalogSource, as text `<namespace>/<name>`; or, without a namespace, where a catalog was read."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Installed:
    """A ClusterServiceVersion (not a copy) that is in the namespace."""

    name: str
    version: str
    properties: tuple[Property, ...] = ()
    owner: str = ""
    """The Subscription whose `status.installedCSV` names it; empty when none does."""
