"""Which bundle a ClusterExtension gets, and which rule removed each of the others (v1.md §13)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from shared.api.manifest import ReadOnly
from shared.domain.catalog.model import Channel, Entry
from shared.domain.extension import selector
from shared.domain.extension.identity import NoIdentity, of_installed
from shared.domain.extension.model import Bundle, CatalogView, Identity, Installed, Offer, Request, Resolution, Step
from shared.domain.go.text import quoted
from shared.domain.semver import InvalidRange, parse_constraint, range_or_none, version_or_none
from shared.domain.semver.masterminds import Constraint

UNSUPPORTED: Final = ("olm.package.required", "olm.gvk.required", "olm.constraint")
"""Properties that declare dependencies, which OLM v1 does not follow."""


class _Refused(Exception):
    """No bundle can be chosen, for the reason given."""


class _Exhausted(_Refused):
    """No catalog has a bundle that passes every rule."""


@dataclass(frozen=True, slots=True)
class _Pick:
    """The best bundle of one catalog."""

    catalog: CatalogView
    bundle: Bundle
    is_deprecated: bool


@dataclass(slots=True)
class _Search:
    """One resolution: the request as it was read, and what has happened so far."""

    request: Request
    installed: Installed | None
    constraint: Constraint | None = None
    trace: list[Step] = field(default_factory=list)

    def rules(self, offer: Offer) -> Sequence[tuple[str, Callable[[Bundle], bool]]]:
        """The rules that apply, each by name."""
        rules: list[tuple[str, Callable[[Bundle], bool]]] = []
        channels = _chosen_channels(self.request, offer)
        constraint = self.constraint
        if self.request.channels:
            members = {entry.name for channel in channels for entry in channel.entries}
            rules.append(("channel", lambda bundle: bundle.name in members))
        if constraint is not None:
            rules.append(("version", lambda one: one.identity is not None and one.identity.version in constraint))
        if self.installed is not None and not self.request.is_self_certified:
            rules.append(("successor", _successors(self.installed, channels)))
        return rules

    def pick(self, catalog: CatalogView) -> _Pick | None:
        """The best bundle of a catalog, if any is left."""
        left = list(catalog.offer.bundles)
        self.trace.append(Step(catalog.name, "package", len(left)))
        if catalog.offer.is_empty:
            return None  # not even an installed version that cannot be read matters here
        for name, holds in self.rules(catalog.offer):
            kept = [bundle for bundle in left if holds(bundle)]
            gone = [bundle for bundle in left if not holds(bundle)]
            removed = [bundle.name for bundle in _best_first(gone, frozenset())]
            there = self._other_channels(catalog.offer) if name == "channel" else ()
            self.trace.append(Step(catalog.name, name, len(kept), tuple(removed), there))
            left = kept
        if not left:
            return None
        deprecated = catalog.offer.deprecated
        best, *others = _best_first(left, deprecated)
        self.trace.append(Step(catalog.name, "best", 1, tuple(other.name for other in others)))
        return _Pick(catalog, best, best.name in deprecated)

    def considers(self, catalog: CatalogView) -> bool:
        """Whether a catalog is asked at all."""
        if not catalog.is_available:
            self.trace.append(Step(catalog.name, "availability", 0))
            return False
        if not selector.selects(self.request.selector, catalog.labels):
            labels = tuple(sorted(f"{key}={value}" for key, value in catalog.labels.items()))
            self.trace.append(Step(catalog.name, "selector", 0, there=labels))
            return False
        return True

    def _other_channels(self, offer: Offer) -> tuple[str, ...]:
        """The channels that there are, when one is asked for that is not."""
        known = sorted(channel.name for channel in offer.channels)
        return () if set(self.request.channels) <= set(known) else tuple(known)


def resolve(request: Request, installed: Installed | None, catalogs: Iterable[CatalogView]) -> Resolution:
    """The bundle for an extension. Catalogs count in the order of their names, whatever order they come in."""
    search = _Search(request, installed)
    try:
        picks, deprecations = _walk(search, sorted(catalogs, key=lambda one: one.name))
        [winner] = _preferred(search, picks)
        _check(winner.bundle)
    except _Refused as refused:
        return Resolution(tuple(search.trace), error=str(refused), is_exhausted=isinstance(refused, _Exhausted))
    return Resolution(tuple(search.trace), winner.bundle, winner.catalog.name, deprecations)


def _walk(search: _Search, catalogs: Iterable[CatalogView]) -> tuple[list[_Pick], ReadOnly | None]:
    """The picks of all catalogs that count, and the deprecations of the last one that contributed (§13.5, §13.6)."""
    request = search.request
    try:
        selector.check(request.selector or {})
        search.constraint = parse_constraint(request.version) if request.version else None
    except selector.InvalidSelector as error:
        raise _Refused(f"desired catalog selector is invalid: {error}") from error
    except InvalidRange as error:
        raise _Refused(f"desired version range {quoted(request.version)} is invalid: {error}") from error
    picks: list[_Pick] = []
    deprecations = None
    for catalog in catalogs:
        if not search.considers(catalog):
            continue
        if problem := catalog.problem or catalog.offer.problem:
            where = f"error getting package {quoted(request.package)} from catalog {quoted(catalog.name)}"
            raise _Refused(f"error walking catalogs: {where}: {problem}")
        pick = search.pick(catalog)
        if pick is None or (pick.is_deprecated and any(not one.is_deprecated for one in picks)):
            continue
        picks = [one for one in picks if pick.is_deprecated or not one.is_deprecated] + [pick]
        deprecations = catalog.offer.deprecations
    return picks, deprecations


def _preferred(search: _Search, picks: list[_Pick]) -> list[_Pick]:
    """The one pick of the highest priority."""
    ranked = sorted(picks, key=lambda pick: -pick.catalog.priority)
    if len(ranked) == 1 or (len(ranked) > 1 and ranked[0].catalog.priority > ranked[1].catalog.priority):
        dropped = tuple(sorted(pick.catalog.name for pick in ranked[1:]))
        search.trace.append(Step(ranked[0].catalog.name, "priority", 1, dropped))
        return ranked[:1]
    refusal = _Refused if picks else _Exhausted
    raise refusal(_nothing_or_too_much(search, [pick.catalog.name for pick in picks]))


def _nothing_or_too_much(search: _Search, catalogs: Sequence[str]) -> str:
    request, installed = search.request, search.installed
    parts = [
        f"error upgrading from currently installed version {quoted(installed.version)}:" if installed else "",
        f"{'found' if catalogs else 'no'} bundles{'' if catalogs else ' found'} for package {quoted(request.package)}",
        f"matching version {quoted(request.version)}" if request.version else "",
        f"in channels [{' '.join(request.channels)}]" if request.channels else "",
        f"in multiple catalogs with the same priority [{' '.join(sorted(catalogs))}]" if catalogs else "",
    ]
    return " ".join(filter(None, parts))


def _check(bundle: Bundle) -> None:
    if bundle.identity is None:
        raise _Refused(f"error getting resolved bundle version for bundle {quoted(bundle.name)}: {bundle.problem}")
    for each in bundle.properties:
        if each.get("type") in UNSUPPORTED:
            name, kind = quoted(bundle.name), quoted(str(each["type"]))
            declared = f"bundle {name} has a dependency declared via property {kind} which is currently not supported"
            raise _Refused(f"validating bundle {name}: {declared}")


def _chosen_channels(request: Request, offer: Offer) -> list[Channel]:
    return [channel for channel in offer.channels if not request.channels or channel.name in request.channels]


def _successors(installed: Installed, channels: Iterable[Channel]) -> Callable[[Bundle], bool]:
    """What an entry names the installed bundle for, and the installed version itself (§13.4)."""
    try:
        present = of_installed(installed)
    except NoIdentity as error:
        raise _Refused(f"error walking catalogs: error finding upgrade edges: {error}") from error
    following = {entry.name for channel in channels for entry in channel.entries if _follows(entry, installed)}
    return lambda one: one.name in following or _is_same(one.identity, present)


def _is_same(one: Identity | None, other: Identity) -> bool:
    return one is not None and one.key == other.key


def _follows(entry: Entry, installed: Installed) -> bool:
    if entry.replaces == installed.name or installed.name in entry.skips:
        return True
    version, skipped = version_or_none(installed.version), range_or_none(entry.skip_range)
    return version is not None and skipped is not None and version in skipped


def _best_first(bundles: Sequence[Bundle], deprecated: frozenset[str]) -> list[Bundle]:
    """Clean before deprecated, then high before low; without a version last, and ties in the given order."""
    known = [(one.identity.key, one) for one in bundles if one.identity]
    unknown = [one for one in bundles if not one.identity]
    ordered = [one for _, one in sorted(known, key=lambda pair: pair[0], reverse=True)]
    return sorted([*ordered, *unknown], key=lambda one: one.name in deprecated)
