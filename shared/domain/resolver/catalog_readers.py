"""The content of catalogs as the cache reads it: loaded as a whole, or with a memo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from shared.domain.catalog.model import Package
from shared.domain.resolver.facts import Gvk, Reader
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import CatalogReader
from shared.domain.resolver.operators import Operator, of_package


@dataclass(frozen=True)
class LoadedCatalog:
    """A catalog that is in memory as a whole."""

    packages: Mapping[str, Package]
    problems: Mapping[str, str] = field(default_factory=dict)
    """Package to why it cannot be offered."""
    _offers: dict[tuple[str, CatalogKey], Mapping[str, tuple[Operator, ...]]] = field(default_factory=dict, repr=False)

    def operators(self, name: str, catalog: CatalogKey) -> Mapping[str, tuple[Operator, ...]]:
        """The operators of a package by channel; made once, because many resolutions use the same loaded catalog."""
        if (name, catalog) not in self._offers:
            package = self.package(name)
            self._offers[name, catalog] = of_package(package, catalog) if package else {}
        return self._offers[name, catalog]

    def package(self, name: str) -> Package | None:
        """A package, or None."""
        return self.packages.get(name)

    def names(self) -> Iterable[str]:
        """All packages."""
        return self.packages

    def is_empty(self) -> bool:
        """Whether it has no package."""
        return not any(self.packages)

    def providers(self, api: Gvk) -> Iterable[str]:
        """The packages that provide an API."""
        return self._providers.get(api, ())

    def holders(self, bundle: str) -> Iterable[str]:
        """The packages with a bundle of that name."""
        return self._holders.get(bundle, ())

    def problem(self, name: str) -> str:
        """Why a package cannot be offered; empty when it can."""
        return self.problems.get(name, "")

    @cached_property
    def _providers(self) -> Mapping[Gvk, dict[str, None]]:
        found: dict[Gvk, dict[str, None]] = {}
        read = Reader().facts
        for name, package in self.packages.items():
            for bundle in package.bundles.values():
                for api in read(bundle.properties).apis:
                    found.setdefault(api, {})[name] = None
        return found

    @cached_property
    def _holders(self) -> Mapping[str, dict[str, None]]:
        found: dict[str, dict[str, None]] = {}
        for name, package in self.packages.items():
            for bundle in package.bundles:
                found.setdefault(bundle, {})[name] = None
        return found


class MemoizedCatalog:
    """A catalog with a memo of its answers, in which one package may be replaced."""

    def __init__(self, reader: CatalogReader, changed: Package | None = None) -> None:
        self._reader = reader
        self._changed = changed
        self._packages: dict[str, Package | None] = {changed.name: changed} if changed else {}
        self._operators: dict[tuple[str, CatalogKey], Mapping[str, tuple[Operator, ...]]] = {}
        self._providers: dict[Gvk, tuple[str, ...]] = {}
        self._names: tuple[str, ...] | None = None
        self._is_empty: bool | None = None

    def package(self, name: str) -> Package | None:
        """A package, or None."""
        if name not in self._packages:
            self._packages[name] = self._reader.package(name)
        return self._packages[name]

    def operators(self, name: str, catalog: CatalogKey) -> Mapping[str, tuple[Operator, ...]]:
        """The operators of a package by channel."""
        if (name, catalog) not in self._operators:
            changed = self._changed if self._changed and self._changed.name == name else None
            found = of_package(changed, catalog) if changed else self._reader.operators(name, catalog)
            self._operators[name, catalog] = found
        return self._operators[name, catalog]

    def names(self) -> Iterable[str]:
        """All packages."""
        if self._names is None:
            self._names = tuple(self._reader.names())
        return self._names

    def is_empty(self) -> bool:
        """Whether it has no package."""
        if self._is_empty is None:
            self._is_empty = self._reader.is_empty()
        return self._is_empty

    def providers(self, api: Gvk) -> Iterable[str]:
        """The packages that provide an API."""
        if api not in self._providers:
            self._providers[api] = tuple(self._reader.providers(api))
        return self._providers[api]

    def holders(self, bundle: str) -> Iterable[str]:
        """The packages with a bundle of that name."""
        return self._reader.holders(bundle)

    def problem(self, name: str) -> str:
        """Why a package cannot be read."""
        return self._reader.problem(name)
