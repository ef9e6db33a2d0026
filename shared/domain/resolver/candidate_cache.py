"""All that a namespace may choose from: what is installed, and every catalog it sees (resolver.md §2.3, §6.2, §6.3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from shared.domain.resolver.channels import ChannelError, in_order
from shared.domain.resolver.facts import Gvk
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import CatalogReader
from shared.domain.resolver.operators import Operator
from shared.domain.resolver.predicates import Predicate


@dataclass(frozen=True, slots=True)
class Source:
    """A catalog in the eyes of a namespace."""

    key: CatalogKey
    reader: CatalogReader
    priority: int = 0


_Group = tuple[str, str]
"""Package and channel."""


class CandidateCache:
    """What one resolution has read of its catalogs, each part once.

    Whole is as in OLM: a channel without order ends the resolution. Otherwise its operators are flawed: nobody gets
    them.
    """

    def __init__(
        self, namespace: str, sources: Iterable[Source], installed: Iterable[Operator], *, is_whole: bool,
        copies: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.namespace = namespace
        self.installed = tuple(installed)
        self.is_whole = is_whole
        self.copies = frozenset(copies)
        """Names of operators that other namespaces have installed for this one."""
        self.flaws: dict[Operator, str] = {}
        """Operators that may not be chosen, and why."""
        self._sources = {source.key: source for source in sources}
        self._packages: dict[tuple[CatalogKey, str], Mapping[str, tuple[Operator, ...]]] = {}
        self._offers: dict[tuple[CatalogKey, str], tuple[Operator, ...]] = {}
        self._ordered: dict[tuple[CatalogKey, _Group], tuple[Operator, ...] | ChannelError] = {}
        self._found: dict[object, tuple[Operator, ...]] = {}
        self._preferred: dict[tuple[object, CatalogKey], tuple[Operator, ...]] = {}

    def referenced(self, key: CatalogKey) -> tuple[CatalogKey, ...]:
        """The visible catalogs with content that a reference means; in OLM, an empty one means all of them."""
        keys = sorted(self._sources) if self.is_anywhere(key) else filter(self._sources.__contains__, [key])
        return tuple(one for one in keys if not self._sources[one].reader.is_empty())

    def is_anywhere(self, key: CatalogKey) -> bool:
        """Whether OLM takes a reference for all catalogs, and for what is installed."""
        return self.is_whole and key == CatalogKey("", "")

    def package(self, key: CatalogKey, name: str) -> tuple[Operator, ...]:
        """The operators of a package in all of its channels."""
        if (key, name) not in self._offers:
            self._offers[key, name] = tuple(one for channel in self._channels(key, name).values() for one in channel)
        return self._offers[key, name]

    def operators_named(self, key: CatalogKey, name: str) -> tuple[Operator, ...]:
        """The operators of that name in all packages and channels."""
        source = self._sources[key]
        return tuple(
            one for package in source.reader.holders(name) for one in self.package(key, package) if one.name == name
        )

    def find(self, predicate: Predicate) -> tuple[Operator, ...]:
        """Every operator, installed or on offer, that passes."""
        if predicate.identity not in self._found:
            offered = (one for key in sorted(self._sources) for one in self._offered(self._sources[key], predicate))
            self._found[predicate.identity] = tuple(one for one in (*self.installed, *offered) if predicate.holds(one))
        return self._found[predicate.identity]

    def preferred(self, predicate: Predicate, catalog: CatalogKey) -> tuple[Operator, ...]:
        """The operators that pass, as an operator of that catalog prefers them. ChannelError as `in_order`."""
        key = (predicate.identity, catalog)
        if key not in self._preferred:
            hits = self.find(predicate)  # why: all operators of a package that has a hit were tested
            self._preferred[key] = tuple(filter(set(hits).__contains__, self._widened(hits, catalog)))
        return self._preferred[key]

    def ordered(self, key: CatalogKey, group: _Group) -> tuple[Operator, ...]:
        """The operators of a channel from head to tail. ChannelError when it has no order and the cache is whole."""
        asked = (key, group)
        if asked not in self._ordered:
            self._ordered[asked] = self._in_order(self._channels(key, group[0]).get(group[1], ()))
        found = self._ordered[asked]
        if isinstance(found, ChannelError):
            raise found
        return found

    def alone(self, one: Operator) -> tuple[Operator, ...]:
        """An operator that was asked for by name. ChannelError when it replaces or skips itself, if whole."""
        return in_order([one]) if self.is_whole else (one,)

    def _in_order(self, channel: Sequence[Operator]) -> tuple[Operator, ...] | ChannelError:
        try:
            return in_order(channel)
        except ChannelError as error:
            if self.is_whole:
                return error
            self.flaws.update(dict.fromkeys(channel, str(error)))
            return tuple(channel)

    def _channels(self, key: CatalogKey, name: str) -> Mapping[str, tuple[Operator, ...]]:
        if (key, name) not in self._packages:
            source = self._sources.get(key)
            self._packages[key, name] = source.reader.operators(name, key) if source else {}
        return self._packages[key, name]

    def _offered(self, source: Source, predicate: Predicate) -> Iterator[Operator]:
        names: Iterable[str]
        if predicate.seeks is None:
            names = source.reader.names()
        else:  # the names of all packages are not even asked for: a new one concerns nobody then
            names = [name for place in predicate.seeks for name in _packages_at(place, source.reader)]
        for name in sorted(set(names)):
            yield from self.package(source.key, name)

    def _widened(self, hits: Sequence[Operator], catalog: CatalogKey) -> Iterator[Operator]:
        """Installed hits first; then all operators of the channels that have a hit, channel by channel."""
        yield from self._installed(hits)
        groups: dict[CatalogKey, dict[_Group, bool]] = {}
        for one in hits:
            if not one.is_installed:
                groups.setdefault(one.catalog, {})[one.package, one.channel] = one.is_default
        for key in sorted(groups, key=lambda key: self._rank(key, catalog)):
            for group in sorted(groups[key], key=lambda group: (not groups[key][group], group)):
                yield from self.ordered(key, group)

    def _installed(self, hits: Sequence[Operator]) -> Iterator[Operator]:
        """Installed hits; OLM sorts them like a channel, and sees only one for each package and owner (§13 B12)."""
        found = [one for one in hits if one.is_installed]
        if not self.is_whole:
            yield from sorted(found, key=lambda one: one.name)
            return
        first: dict[tuple[str, str], Operator] = {}
        for one in found:
            first.setdefault((one.package, one.owner), one)
        for package in sorted({package for package, _ in first}):
            yield from in_order([one for (group, _), one in first.items() if group == package])

    def _rank(self, key: CatalogKey, catalog: CatalogKey) -> tuple[bool, int, bool, str, str]:
        priority = self._sources[key].priority
        return (key != catalog, -priority, key.namespace != self.namespace, key.name, key.namespace)


def _packages_at(place: tuple[str, str | Gvk], reader: CatalogReader) -> Iterable[str]:
    _, what = place
    return reader.providers(what) if isinstance(what, Gvk) else (what,)
