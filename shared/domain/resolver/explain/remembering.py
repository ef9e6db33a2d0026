"""A catalog with a memo of all reads, for resolving the same namespace many times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shared.domain.catalog.model import Package
from shared.domain.resolver.facts import Gvk
from shared.domain.resolver.model import CatalogKey, Shelf
from shared.domain.resolver.operators import Operator, of_package


class Remembering:
    """A shelf with a memo of its answers, in which one package may be replaced."""

    def __init__(self, shelf: Shelf, changed: Package | None = None) -> None:
        self._shelf = shelf
        self._changed = changed
        self._packages: dict[str, Package | None] = {changed.name: changed} if changed else {}
        self._operators: dict[tuple[str, CatalogKey], Mapping[str, tuple[Operator, ...]]] = {}
        self._providers: dict[Gvk, tuple[str, ...]] = {}
        self._names: tuple[str, ...] | None = None

    def package(self, name: str) -> Package | None:
        """A package, or None."""
        if name not in self._packages:
            self._packages[name] = self._shelf.package(name)
        return self._packages[name]

    def operators(self, name: str, catalog: CatalogKey) -> Mapping[str, tuple[Operator, ...]]:
        """The operators of a package by channel."""
        if (name, catalog) not in self._operators:
            changed = self._changed if self._changed and self._changed.name == name else None
            found = of_package(changed, catalog) if changed else self._shelf.operators(name, catalog)
            self._operators[name, catalog] = found
        return self._operators[name, catalog]

    def names(self) -> Iterable[str]:
        """All packages."""
        if self._names is None:
            self._names = tuple(self._shelf.names())
        return self._names

    def providers(self, api: Gvk) -> Iterable[str]:
        """The packages that provide an API."""
        if api not in self._providers:
            self._providers[api] = tuple(self._shelf.providers(api))
        return self._providers[api]

    def homes(self, bundle: str) -> Iterable[str]:
        """The packages with a bundle of that name."""
        return self._shelf.homes(bundle)

    def problem(self, name: str) -> str:
        """Why a package cannot be read."""
        return self._shelf.problem(name)
