"""An indexed catalog as the resolver reads it: package by package, only what is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from shared.domain.catalog.model import Package
from shared.domain.image_source import ImageSource
from shared.domain.resolver.facts import Gvk
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.operators import Operator, of_package
from shared.ports import IndexedCatalogs, Unavailable

_WHOLE: Final = ""


@dataclass(slots=True)
class IndexedCatalog:
    """The content of an indexed catalog; remembers what could not be read."""

    content: IndexedCatalogs
    reference: str
    source: ImageSource
    problems: dict[str, str] = field(default_factory=dict)
    """Package to why it could not be read; `_WHOLE` for the catalog as a whole."""
    asked: dict[str, Package] = field(default_factory=dict)

    def operators(self, name: str, catalog: CatalogKey) -> Mapping[str, tuple[Operator, ...]]:
        """The operators of a package by channel."""
        package = self.package(name)
        return of_package(package, catalog) if package else {}

    def package(self, name: str) -> Package | None:
        """A package; None also when it cannot be read."""
        if name not in self.asked and name not in self.problems:
            match self.content.package(self.reference, name, self.source):
                case Package() as found:
                    self.asked[name] = found
                case Unavailable(message=message):
                    self.problems[name] = message
        return self.asked.get(name)

    def names(self) -> tuple[str, ...]:
        """All packages."""
        return self._listed(self.content.packages(self.reference, self.source))

    def providers(self, api: Gvk) -> tuple[str, ...]:
        """The packages that provide an API."""
        return self._listed(self.content.providers(self.reference, api, self.source))

    def holders(self, bundle: str) -> tuple[str, ...]:
        """The packages with a bundle of that name, among those that were asked for."""
        return tuple(sorted(name for name, package in self.asked.items() if bundle in package.bundles))

    def problem(self, name: str) -> str:
        """Why a package could not be read; empty when it could."""
        return self.problems.get(name) or self.problems.get(_WHOLE, "")

    def _listed(self, answer: tuple[str, ...] | Unavailable) -> tuple[str, ...]:
        if isinstance(answer, Unavailable):
            self.problems[_WHOLE] = answer.message
            return ()
        return answer
