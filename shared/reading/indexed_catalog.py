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
from shared.domain.resolver.read_set import CatalogReads
from shared.ports import IndexedCatalogs, Unavailable

_WHOLE: Final = ""


@dataclass(slots=True)
class IndexedCatalog:
    """The content of an indexed catalog; remembers what was asked, and what could not be read."""

    content: IndexedCatalogs
    reference: str
    source: ImageSource
    problems: dict[str, str] = field(default_factory=dict)
    """Package to why it could not be read; `_WHOLE` for the catalog as a whole."""
    asked: dict[str, Package | None] = field(default_factory=dict)
    _providers: dict[Gvk, tuple[str, ...]] = field(default_factory=dict)
    _is_empty: bool | None = None
    _is_listed: bool = False
    """All names were asked for."""

    def operators(self, name: str, catalog: CatalogKey) -> Mapping[str, tuple[Operator, ...]]:
        """The operators of a package by channel."""
        package = self.package(name)
        return of_package(package, catalog) if package else {}

    def package(self, name: str) -> Package | None:
        """A package; None also when it cannot be read."""
        if name not in self.asked and name not in self.problems:
            match self.content.package(self.reference, name, self.source):
                case Unavailable(message=message):
                    self.problems[name] = message
                case found:
                    self.asked[name] = found
        return self.asked.get(name)

    def names(self) -> tuple[str, ...]:
        """All packages."""
        self._is_listed = True
        return self._listed(self.content.packages(self.reference, self.source))

    def is_empty(self) -> bool:
        """Whether it has no package."""
        if self._is_empty is None:
            self._is_empty = not any(self._listed(self.content.packages(self.reference, self.source)))
        return self._is_empty

    def providers(self, api: Gvk) -> tuple[str, ...]:
        """The packages that provide an API."""
        if api not in self._providers:
            self._providers[api] = self._listed(self.content.providers(self.reference, api, self.source))
        return self._providers[api]

    def holders(self, bundle: str) -> tuple[str, ...]:
        """The packages with a bundle of that name, among those that were asked for."""
        return tuple(sorted(name for name, package in self.asked.items() if package and bundle in package.bundles))

    def problem(self, name: str) -> str:
        """Why a package could not be read; empty when it could."""
        return self.problems.get(name) or self.problems.get(_WHOLE, "")

    def reads(self, state: str) -> CatalogReads | None:
        """What was read of it so far; None when that cannot be compared: all of it, or what could not be read."""
        packages = {name: package.digest if package else "" for name, package in self.asked.items()}
        is_comparable = all(packages[name] for name, package in self.asked.items() if package)
        if self._is_listed or self.problems or not is_comparable:
            return None
        return CatalogReads(state, packages, dict(self._providers), self._is_empty)

    def _listed(self, answer: tuple[str, ...] | Unavailable) -> tuple[str, ...]:
        if isinstance(answer, Unavailable):
            self.problems[_WHOLE] = answer.message
            return ()
        return answer
